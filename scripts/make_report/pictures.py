"""The figures of the report page, as images within it."""

import base64
import io

from ufs_bench.metrics.study.summary import SELECTIONS
from ufs_bench.scripts.core.command_lines import MissingResults
from ufs_bench.scripts.core.conf import unique_names
from ufs_bench.scripts.make_figure.curves import acc_vs_size

DRAWN = 6  # data sets that are drawn; the command draws the others


def figures(study, selection):
    """Draw ACC over the number of features on the first data sets; return them with notes on what is not shown."""
    shown, notes, titles = [], [], unique_names("dataset", sorted(study.summary["dataset"].unique()))
    for dataset in list(titles)[:DRAWN]:
        try:
            figure = acc_vs_size(study, dataset, selection=selection)
        except MissingResults as error:
            notes.append(f"Not drawn: {error}")
            continue
        file = io.BytesIO()
        figure.savefig(file, format="svg", metadata={"Date": None})
        caption = (
            f"{titles[dataset]}: accuracy of K-means in percent on the features that each method selects, over their "
            f"number. Parameters: {SELECTIONS[selection]}."
        )
        source = f"data:image/svg+xml;base64,{base64.b64encode(file.getvalue()).decode()}"
        shown.append({"caption": caption, "source": source})
    if len(titles) > DRAWN:
        notes.append(f"These are the first {DRAWN} of {len(titles)} data sets; scripts.make_figure draws the others.")
    return {"shown": shown, "notes": notes}
