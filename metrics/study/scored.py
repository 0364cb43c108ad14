"""Fits that score fewer features than they were asked for, so that rounding or file order ranks the others."""

from metrics.study.sets import CELL

SCORED = "n_scored"  # the fact that `runners.workers.fit` makes of the scores


def scored(trials):
    """Compare how many features have a score with how many were asked for, in fits from `fits_of`.

    There is one row per data set and method of which some fit was asked for more features than have a score: n_fits, of
    all that report it; asked, the largest size; low and high, of the number that such a fit scores; and short, the
    share of such fits.
    """
    found = trials.dropna(subset=[SCORED])
    found = found.assign(asked=found["sizes"].map(max), value=found[SCORED].astype(float))
    found = found.assign(lacks=found["value"] < found["asked"])
    n_fits = found.groupby(CELL).size()
    lacking = found[found["lacks"]].groupby(CELL)
    table = lacking.agg(asked=("asked", "max"), low=("value", "min"), high=("value", "max"), n_short=("value", "size"))
    table.insert(0, "n_fits", n_fits.reindex(table.index).astype(int))
    return table.assign(short=table["n_short"] / table["n_fits"]).drop(columns="n_short").reset_index()
