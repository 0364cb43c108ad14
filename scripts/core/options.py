"""The kinds of values that options take: by their name, and for some commands by another rule."""

from ufs_bench.metrics.study import METRICS
from ufs_bench.metrics.study.selections import SELECTIONS
from ufs_bench.runners.experiment.kinds import (
    ANY,
    FLAG,
    JOBS,
    NAME,
    PATH,
    TEXT,
    VALUE,
    Kind,
    either,
    is_name,
    listed,
    mapping,
    number,
    one_of,
    one_or_more,
    optional,
    whole,
)
from ufs_bench.runners.store.reference import PREFIX
from ufs_bench.scripts.core.conf import CONF
from ufs_bench.scripts.core.published import PAPERS

MOST = 10**9
STUDY = Kind(NAME.words, lambda value: is_name(value.removeprefix(PREFIX) if isinstance(value, str) else value))
METRIC, PAPER = one_of(*METRICS), one_of(*PAPERS)


class Many(Kind):
    """One value or a list; commands get a list."""


def many(kind):
    """Return the kind that takes a value of this kind, or a list of them."""
    return Many(*one_or_more(kind))


BY_NAME = {
    **dict.fromkeys(["results_dir", "data_dir", "config_dir", "output", "table"], PATH),
    **dict.fromkeys(["study", "protocol"], STUDY),
    **dict.fromkeys(["method", "experiment", "figure"], NAME),
    **dict.fromkeys(["methods", "datasets", "dataset", "rows", "columns"], many(NAME)),
    "title": TEXT,
    "base": optional(TEXT),
    "size": whole(1, MOST),
    **dict.fromkeys(["longest", "fetch"], number(0, MOST)),
    "metric": METRIC,
    "selection": one_of(*SELECTIONS),
    "clusterer": one_of("kmeans", "learned"),
    "variants": one_of("base", "all"),
    "format": one_of("md", "csv"),
    "notes": one_of("none", "short", "full"),
    "test": one_of("nemenyi", "wilcoxon_holm"),
    "alpha": number(0, 1),
    "parameters": many(TEXT),
    "others": either(one_of("best", "default"), mapping(VALUE)),
    "grid": mapping(listed(VALUE)),
    "samples": many(whole(0, MOST)),
    "paper": PAPER,
    "n_jobs": JOBS,
    "watch": whole(1, 86_400),
    "allow": many(one_of("elsewhere", "unverified")),
}
BY_COMMAND = {
    "make_table": {
        "metric": one_of(*METRICS, "seconds"),
        "variants": FLAG,
        "format": one_of("md", "csv", "latex"),
    },
    "make_figure": {"metric": one_or_more(METRIC), "method": many(NAME), "width": number(1, 50)},
    "features": {"dataset": NAME},
    "rank": {"study": many(STUDY)},
    "refit": {"what": one_of("again", "seeds", "restarts")},
    "cite": {"format": one_of("text", "bibtex")},
}
BY_TYPE = {bool: FLAG, int: whole(0, MOST), float: number(-MOST, MOST), str: TEXT, list: many(VALUE)}
COMMANDS = sorted(
    path.stem for path in CONF.glob("*.yaml") if "\nhelp: |\n" in path.read_text(encoding="utf-8")
)  # those with options


def kind_of(command, name, usual):
    """Return the kind of an option by its command, its name or the type of its default; anything where none says it."""
    own = BY_COMMAND.get(command, {})
    if name in own:
        return own[name]
    return FLAG if isinstance(usual, bool) else BY_NAME.get(name) or BY_TYPE.get(type(usual), ANY)
