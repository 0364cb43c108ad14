"""Studies in which every ranking is random, with controls, and methods that are better by what is asked."""

import numpy as np

DATASETS = ["umist", "orl", "pie10p", "allaml", "prostate_ge", "coil20", "fashion", "usps", "digits", "isolet"]
METHODS = ["mcfs", "rufs", "udfs", "eufs"]
DRAWS = 5


def points(methods=METHODS, datasets=DATASETS, better=None, seed=0, controls=True):
    """Return the points of a study: about a level of each data set, with 2 points of noise."""
    rng, rows = np.random.default_rng(seed), []
    for dataset in datasets:
        level = np.random.default_rng(len(dataset)).uniform(0.3, 0.7)

        def cell(method, dataset=dataset, level=level, **more):
            acc = list(level + (better or {}).get(method, 0.0) + rng.normal(0, 0.02) + rng.normal(0, 0.001, size=4))
            return {"dataset": dataset, "method": method, "acc": {100: acc}, **more}

        rows += [cell(method) for method in methods]
        if controls:
            rows += [cell("all_features"), cell("max_variance")]
            rows += [cell("random_rankings", params={"draw": draw}, is_default=not draw) for draw in range(DRAWS)]
    return rows
