"""The options of every command line of ``key=value``, with their types, checked before anything is read."""

from typing import NamedTuple

from ufs_bench.metrics.study import METRICS
from ufs_bench.metrics.study.selections import SELECTIONS
from ufs_bench.runners.experiment.kinds import (
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
from ufs_bench.scripts.core.published import PAPERS

STUDY = Kind(
    NAME.words,
    lambda value: is_name(value.removeprefix(PREFIX) if isinstance(value, str) else value),
)
METRIC, CLUSTERER = one_of(*METRICS), one_of("kmeans", "learned")
SELECTION = one_of(*SELECTIONS)
RESULTS = {"study": STUDY, "results_dir": PATH}
OUTPUT = {"output": optional(PATH)}
PAGE = {**OUTPUT, "format": one_of("md", "csv")}
DATA = {"data_dir": optional(PATH)}
CELLS = {"methods": optional(listed(NAME)), "datasets": optional(listed(NAME))}
LEVEL = number(0, 1)
COLUMN = whole(-(10**9), 10**9)
# Those of `datasets.spec`, which most commands need not import.
FILLS, COLUMNS = ("error", "median", "drop"), ("same", "common")
POSTHOC = one_of("nemenyi", "wilcoxon_holm")
FIELD = {"variants": one_of("base", "all"), "rope": number(0, 100), "partial": FLAG}


class Group(NamedTuple):
    """Files of conf/ that bring options of a command: those of `folder`, named by `option`."""

    option: str
    folder: str
    is_flat: bool  # the options of the file are options of the command


GROUPS = {"make_figure": Group("figure", "figure", True), "make_table": Group("table", "table", False)}
OPTIONS = {
    "make_table": {
        "table": NAME,
        **RESULTS, **OUTPUT,
        "study": optional(STUDY),
        "metric": optional(one_of(*METRICS, "seconds")),
        "rows": optional(one_or_more(NAME)),
        "columns": optional(one_or_more(NAME)),
        "title": optional(TEXT),
        "variants": optional(FLAG),
        "format": one_of("md", "csv", "latex", "html"),
        "notes": one_of("none", "short", "full"),
        "selection": SELECTION,
        "width": whole(20, 10_000),
    },
    "fetch_data": {
        "dataset": optional(one_or_more(NAME)),
        "list": FLAG,
        "verify": FLAG,
        "jobs": whole(1, 64),
        **DATA,
    },
    "check_method": {
        "method": optional(NAME),
        "config_dir": optional(PATH),
        "tracebacks": FLAG,
    },
    "findings": {
        "study": STUDY,
        "write": FLAG,
        "check": FLAG,
    },
    "make_figure": {
        "figure": NAME,
        **RESULTS, **OUTPUT, **DATA,
        "protocol": STUDY,
        "draw": TEXT,
        "reason": TEXT,
        "dataset": optional(one_or_more(NAME)),
        "method": optional(one_or_more(NAME)),
        "methods": optional(one_or_more(NAME)),
        "metric": one_or_more(METRIC),
        "clusterer": CLUSTERER,
        "selection": optional(SELECTION),
        "width": number(1, 50),
        "title": FLAG,
        "note": FLAG,
        # options of some figures
        "parameters": optional(one_or_more(TEXT)),
        "others": either(one_of("best", "default"), mapping(VALUE)),
        "grid": optional(mapping(listed(VALUE))),
        "size": optional(whole(1, 10**9)),
        "samples": optional(listed(whole(0, 10**9))),
        "paper": one_of(*PAPERS),
        "table": NAME,
        "test": POSTHOC,
        "alpha": LEVEL,
        **FIELD,
    },
    "rank": {
        **RESULTS, "study": one_or_more(STUDY),
        **PAGE,
        "method": optional(NAME),
        "choices": FLAG,
        "metric": METRIC,
        "selection": SELECTION,
        "clusterer": CLUSTERER,
        **CELLS,
        **FIELD,
        "full": FLAG,
    },
    "features": {
        **RESULTS, **PAGE,
        "dataset": optional(NAME),
        "methods": optional(one_or_more(NAME)),
        "metric": METRIC,
        "selection": SELECTION,
        "size": optional(whole(1, 10**9)),
    },
    "ground_truth": {**RESULTS, **PAGE},
    "add_data": {
        "data": one_or_more(PATH),
        "label": optional(one_or_more(either(TEXT, COLUMN))),
        "name": optional(NAME),
        "fill": optional(either(one_of(*FILLS), number(-1e300, 1e300))),
        "clusters": optional(whole(2, 10**9)),
        "x": optional(TEXT),
        "ignore": optional(one_or_more(either(TEXT, COLUMN))),
        "header": optional(FLAG),
        "label_header": optional(FLAG),
        "skip_rows": optional(whole(0, 10**9)),
        "sheet": optional(either(TEXT, COLUMN)),
        "decimal": optional(one_of(",", ".")),
        "thousands": optional(one_of(",", ".")),
        "max_unpacked_mb": optional(whole(1, 10**9)),
        "sparse": optional(FLAG),
        "format": optional(TEXT),
        "labels": optional(one_or_more(PATH)),
        "key": optional(either(TEXT, COLUMN)),
        "others": optional(one_of("drop")),
        "names": optional(either(TEXT, COLUMN)),
        "ignore_rows": optional(one_or_more(whole(0, 10**9))),
        "onehot": optional(either(FLAG, one_or_more(either(TEXT, COLUMN)))),
        "transposed": optional(FLAG),
        "columns": optional(one_of(*COLUMNS)),
        "missing": optional(one_or_more(either(TEXT, number(-1e300, 1e300)))),
        "label_pattern": optional(TEXT),
        "steps": optional(listed(mapping(VALUE))),
        **DATA,
    },
    "kept": {
        **RESULTS, "study": one_or_more(STUDY),
        **DATA, **CELLS,
    },
    "audit": {
        **RESULTS, **OUTPUT, **DATA,
        "stability": whole(0, 10_000),
        "metric": METRIC,
        "full": FLAG,
        "n_jobs": JOBS,
    },
    "compare": {
        **RESULTS, **PAGE,
        "study": optional(STUDY),
        "paper": optional(one_of(*PAPERS)),
        "full": FLAG,
    },
    "seeds": {
        **RESULTS, **DATA, **CELLS,
        "seeds": whole(2, 1000),
        "n_jobs": JOBS,
    },
    "restarts": {
        **RESULTS, **DATA, **CELLS,
        "restarts": whole(2, 10**5),
        "n_jobs": JOBS,
    },
    "reproduce": {
        **RESULTS, **DATA, **CELLS,
        "fits": whole(1, 10**6),
        "per_cell": optional(whole(1, 10**6)),
        "longest": optional(number(0, 10**6)),
        "seed": whole(0, 2**32 - 1),
        "stamp": FLAG,
        "sensitive": FLAG,
        "digests": optional(PATH),
        "against": optional(PATH),
        "budget": optional(number(0, 10**9)),
        "n_jobs": JOBS,
    },
    "ship": {
        "study": optional(STUDY),
        "results_dir": PATH,
        **DATA, **CELLS,
        "partial": FLAG,
        "traces": FLAG,
        "further": FLAG,
        "check": FLAG,
        "base": optional(STUDY),
        "fits": whole(0, 10**6),
        "seed": whole(0, 2**32 - 1),
        "budget": optional(number(0, 10**9)),
        "allow": optional(listed(one_of("elsewhere", "unverified"))),
        "fetch": optional(number(0, 10**6)),
        "method": optional(NAME),
        "plan": FLAG,
        "n_jobs": JOBS,
    },
    "make_report": {**RESULTS, **OUTPUT, "selection": SELECTION},
    "cite": {**RESULTS, "format": one_of("text", "bibtex")},
    "status": {
        "study": optional(STUDY),
        "experiment": optional(NAME),
        "watch": optional(whole(1, 86_400)),
        "results_dir": PATH,
    },
}  # fmt: skip
