"""The notes below a table on the seeds of the methods."""

import shlex

import pandas as pd

from metrics.study.seeds import SCORES
from scripts.core.conf import find, printed, unique_names
from scripts.core.words import REFITTED, labelled

AVERAGED = " The numbers in the cells are means over these seeds."


def seed_notes(cells, study):
    """Return the spread over the methods' seeds, a line a row, and the command that measures what is lacking."""
    if cells["metric"].iloc[0] not in SCORES:
        return []
    names = unique_names("method", cells["method"].unique())
    known, lines = cells[cells["seed_std"].notna()], []
    for (method, clusterer), own in known.groupby(["method", "clusterer"], sort=False):
        texts = [
            f"{printed('dataset', cell.dataset)} {cell.seed_std:.1f} ({int(cell.n_seeds)})" for cell in own.itertuples()
        ]
        lines.append(f"Seeds of {labelled(names[method], clusterer)}: {', '.join(texts)}.")
    if lines:
        lines.insert(
            0,
            "Seeds of a method: std over its own seeds (how many), in points, with the same K-means starts. The ± of "
            f"the cells does not hold it.{AVERAGED if study.protocol.get('seeds') else ''}",
        )
    if lacking := _lacking(cells, study.seeds):
        words = ["python", "-m", "scripts.seeds", f"study={study.own_name}", f"methods=[{','.join(lacking)}]"]
        lines.append(
            f"Methods with a random part and cells without other seeds: {', '.join(names[name] for name in lacking)}. "
            f"The command is {shlex.join(words)}"
        )
    return lines


def _lacking(cells, seeds):
    """Return the methods with a random part for which some fit that is shown has no spread."""
    open_cells = cells[(cells["trial"] != "") & cells["seed_std"].isna()]
    if cells["selection"].iloc[0] not in REFITTED:  # `scripts.seeds` does not repeat the fits of this selection
        pairs, stored = (pd.MultiIndex.from_frame(frame[["dataset", "method"]]) for frame in (open_cells, seeds))
        open_cells = open_cells[~pairs.isin(stored)]
    files = {name: find("method", name) for name in open_cells["method"].unique()}
    if not files:
        return []
    from runners.experiment.trial import has_random_part  # here, as it imports what fits need

    return [name for name, content in files.items() if content and has_random_part(content)]
