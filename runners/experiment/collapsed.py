"""Says what is selected where a fit has learned nothing."""

from pathlib import Path

from ufs_bench.datasets import scale
from ufs_bench.runners.experiment.method import load_class
from ufs_bench.runners.place import SUITE
from ufs_bench.runners.store.row import from_json, subsets_of
from ufs_bench.runners.workers.outside import is_outside

COLLAPSED = "collapsed"
# What methods that learn nothing were seen to select, and the words for it.
CONTROLS = {
    "methods.baselines.FirstIndex": "the ranking is the order of the columns",
    "methods.baselines.MinNorm": "the ranking is that of min_norm",
}
SAME = 0.99  # of the features: norms that differ by rounding alone change places


def collapsed_line(settings, fits, X):
    """Say how many of the fits of a cell have learned nothing, what they select, and what to run; "" if all learned.

    `fits` are rows of trials, and X the data, not scaled.
    """
    collapsed = fits[fits["status"] == COLLAPSED]
    if collapsed.empty:
        return ""
    page = Path("docs/methods", f"{settings.method.target.split('.')[1]}.md")
    told = f" ({page})" if not is_outside(settings.method.target) and (SUITE / page).exists() else ""
    parts = [f"learned nothing in {len(collapsed)} of {len(fits)} fits"]
    if len(collapsed) < len(fits) and collapsed["is_default"].any():
        parts[0] += ", the default parameters among them"
    if words := _selected(settings, collapsed, X):
        parts.append(words)
    parts[-1] += told
    if repair := settings.method_file.get("repair"):
        parts.append(f"our repair is method={repair}")
    return "; ".join(parts)


def _selected(settings, collapsed, X):
    """Say which control selects the same features as all these fits; "" for none."""
    X = scale(X, settings.protocol.scaling_of(settings.method.name))
    for target, words in CONTROLS.items():
        ranking = load_class(target)(X.shape[1]).fit(X).ranking_
        if all(_is_like(ranking, row) for row in collapsed.to_dict("records")):
            return words
    return ""


def _is_like(ranking, row):
    """Return True if the features that a fit selects are, at every size, those of a ranking."""
    sets = subsets_of(row["ranking"], from_json(row["sizes"])).items()
    return all(len(set(ranking[:size]) & set(own)) >= SAME * size for size, own in sets)
