"""Made-up samples in the forms of the files that users have."""

import numpy as np
import pandas as pd

CODES = np.repeat([0, 1, 2], 10)
X = (np.random.default_rng(3).normal(size=(30, 8)) + 3 * np.eye(8)[CODES]).round(3)
FRAME = pd.DataFrame(X).assign(label=CODES)
NAMED = pd.DataFrame(X, columns=[f"f{j}" for j in range(8)]).assign(label=np.array(list("abc"))[CODES])
PLAIN = NAMED.to_csv(index=False)


def is_right(data, rounded=False):
    np.testing.assert_allclose(data.X, X, rtol=1e-6 if rounded else 0)
    assert data.y.tolist() == CODES.tolist()
