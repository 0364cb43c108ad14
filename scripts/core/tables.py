"""The files of conf/table."""

from dataclasses import dataclass, field

from ufs_bench.metrics.study import METRICS
from ufs_bench.runners.experiment.kinds import NAME, TEXT, Kind, check_fields, listed, mapping, one_of, optional
from ufs_bench.scripts.core.conf import composed, known, names, read
from ufs_bench.scripts.core.published import PAPERS

OF_TABLES = (*METRICS, "seconds", "shape")
NAMES = Kind("a list of names, such as [mcfs, rufs]", listed(NAME).holds)
KINDS = {
    "name": TEXT,
    "title": TEXT,
    "paper": one_of(*PAPERS, None),
    "published_table": optional(TEXT),
    "metric": one_of(*OF_TABLES),
    "study": TEXT,
    "protocol": NAME,
    "rows": NAMES,
    "columns": NAMES,
    "published_as": Kind("{} or as {a_variant: mcfs}", mapping(NAME).holds),
}


@dataclass(frozen=True, kw_only=True)
class TableSpec:
    """The specification of a table, from a file of conf/table."""

    name: str
    title: str
    # The paper whose numbers stand beside ours, a key of `scripts.core.published.PAPERS`.
    paper: str | None = None
    published_table: str | None = None  # the paper's own name of the table
    metric: str  # one of `metrics.study.METRICS`, "seconds" (those of a fit) or "shape" (that of the data sets)
    # study, protocol: the study that it is made for, and the protocol that fills it
    study: str
    protocol: str

    rows: list
    columns: list
    published_as: dict = field(default_factory=dict)  # variant of a method -> the row of the paper beside it

    @classmethod
    def check(cls, content, name):
        """Return the `TableSpec` of a file of conf/table, or raise a ConfigError."""
        content = content if isinstance(content, dict) else {}
        check_fields(f"table={name}", content, KINDS, KINDS, f"table={name}: ")
        return cls(**content)

    def printed_row(self, method):
        """Return the row of the paper that a method stands beside."""
        return self.published_as.get(method, method)


def read_table(name):
    """Read and check a file of conf/table, with the file that it builds on, or a file of the user, FILE.yaml."""
    content = read(name) if name.endswith(".yaml") else composed("table", known("table", name))
    return TableSpec.check(content, name)


def paper_tables(paper):
    """Return the tables of a paper, by the names of their files."""
    return [read_table(name) for name in names("table") if name.startswith(f"{paper}_table")]
