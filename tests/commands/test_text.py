"""Numbers as texts."""

import pytest

from ufs_bench.scripts.core.text import number, signed


@pytest.mark.parametrize("value", [-0.0, -0.04, 0.0, 0.04])
def test_what_rounds_to_zero_has_no_minus(value):
    assert (signed(value), number(value, 1)) == ("0.0", "0.0")
