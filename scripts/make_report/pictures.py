"""The figures of the report page, as images within it."""

import base64
import io

from ufs_bench.metrics.study.summary import SELECTIONS
from ufs_bench.scripts.core.command_lines import MissingResults
from ufs_bench.scripts.core.conf import unique_names
from ufs_bench.scripts.make_figure.curves import acc_vs_size

FIGURE_BYTES = 1_500_000  # largest size of all figures together
DRAWN = 6  # data sets that are drawn where the study has no figures; the command draws the others


def figures(study, selection):
    """Return the study's own figures, or ACC over size, each with its caption; and notes on what is not shown."""
    folder, shown, notes, total = study.output_dir / "figures", [], [], 0
    files = sorted(path for path in folder.glob("**/*") if path.suffix in (".svg", ".png")) if folder.is_dir() else []
    vector = {path.with_suffix("") for path in files if path.suffix == ".svg"}
    for path in (path for path in files if path.suffix == ".svg" or path.with_suffix("") not in vector):
        source = _address(path.read_bytes(), path.suffix[1:])
        if total + len(source) > FIGURE_BYTES:
            notes.append(f"Left out for its size: {path.name}.")
            continue
        total += len(source)
        shown.append({"caption": f"{path.stem.replace('_', ' ').capitalize()}, as scripts.make_figure drew it.",
                      "source": source})  # fmt: skip
    return {"shown": shown, "notes": notes} if files else _drawn(study, selection)


def _drawn(study, selection):
    """Draw ACC over the number of features on the first data sets."""
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
        shown.append({"caption": caption, "source": _address(file.getvalue(), "svg")})
    if len(titles) > DRAWN:
        notes.append(f"These are the first {DRAWN} of {len(titles)} data sets; scripts.make_figure draws the others.")
    return {"shown": shown, "notes": notes}


def _address(data, kind):
    return f"data:image/{'svg+xml' if kind == 'svg' else kind};base64,{base64.b64encode(data).decode()}"
