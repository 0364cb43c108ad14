"""Fits that score fewer features than they were asked for, so that rounding or file order ranks the others."""

from ufs_bench.metrics.study.sets import CELL


def scored(trials):
    """Compare how many features have a score with how many were asked for, in fits from `fits_of`.

    There is one row per data set and method of which some fit was asked for more features than have a score: n_fits, of
    all that report it; asked, the largest size; low and high, of the number that such a fit scores; and short, the
    share of such fits.
    """
    found = trials.dropna(subset=["n_scored"])
    found = found.assign(asked=found["sizes"].map(max), value=found["n_scored"].astype(float))
    lacking = found[found["value"] < found["asked"]].groupby(CELL)
    table = lacking.agg(asked=("asked", "max"), low=("value", "min"), high=("value", "max"), n_short=("value", "size"))
    table.insert(0, "n_fits", found.groupby(CELL).size().reindex(table.index).astype(int))
    return table.assign(short=table["n_short"] / table["n_fits"]).drop(columns="n_short").reset_index()
