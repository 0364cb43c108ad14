"""The part of the report on running times."""

from metrics.study import UNSCORED
from runners.words import counted
from scripts.make_report.folded import MOST_ROWS


def times(trials, methods, datasets):
    """Return seconds and memory of every method on every data set, or `folded` ones, of all data sets."""
    fits = trials[~trials["status"].isin(UNSCORED)]
    folded = len(fits[["dataset", "method"]].drop_duplicates()) > MOST_ROWS
    rows = []
    for (*_, method), cell in fits.groupby(["method"] if folded else ["dataset", "method"]):
        seconds, where = cell["fit_s"], cell["dataset"]
        dataset = counted(where.nunique(), "data set") if folded else datasets[where.iloc[0]]
        values = [seconds.median(), seconds.max(), seconds.sum(), cell["eval_s"].sum(), cell["peak_mb"].max()]
        rows.append({"dataset": dataset, "method": methods[method], "fits": len(cell), "values": values})
    return {"rows": rows, "folded": folded}
