"""``python -m scripts.findings --help``."""

import sys

from ufs_bench.scripts.cite import method_lines
from ufs_bench.scripts.compare import compare_studies, controls_of, open_studies, shipped_names
from ufs_bench.scripts.compare.tables import tables as comparison_tables
from ufs_bench.scripts.core.conf import ROOT
from ufs_bench.scripts.core.entry import command
from ufs_bench.scripts.core.study import Study
from ufs_bench.scripts.core.text import filled, pipes, renewed
from ufs_bench.scripts.findings import STUDY, plan, sizes, tables

FINDINGS, METHODS, REPRODUCTION = (ROOT / "docs" / f"{name}.md" for name in ("findings", "methods", "reproduction"))


def pages(study, found):
    """Return the present text of every file that rests on the opened study and its estimates, by its path."""
    from ufs_bench.scripts.make_figure.style import as_svg  # here, as tables need no matplotlib

    parts = {name: pipes(lines) for name, lines in tables(study, found).items()}
    return {
        FINDINGS: filled(FINDINGS, "scripts.findings", parts),
        METHODS: filled(METHODS, "scripts.findings", {"methods": pipes(method_lines())}),
        ROOT / "docs/sizes.svg": as_svg(sizes.draw_sizes(study, found)),
    }


def compared():
    """Return the text of docs/reproduction.md with the tables of all that is shipped of the papers."""
    studies = open_studies(ROOT / "results", shipped_names())
    found = comparison_tables(compare_studies(studies), controls_of(studies))
    return filled(REPRODUCTION, "scripts.compare", {name: pipes(lines) for name, lines in found.items()})


@command("findings")
def main(options):
    """Print the tables of the findings, or write them into the pages."""
    study = Study.find(ROOT / "results", options["study"]).filled()
    needed = study if study.name == STUDY else Study.find(ROOT / "results", STUDY)
    if lacking := sorted({*needed.frame["dataset"]} - {*study.frame["dataset"]}):
        raise ValueError(f"study={study.own_name} lacks {lacking[0]}: the findings need all data sets of study=fair.")
    found = plan.estimates(study)
    if options["write"] or options["check"]:
        if study.name != STUDY:
            raise ValueError(f"study={study.own_name}: the pages are written from study=fair (shipped).")
        return renewed(pages(study, found) | {REPRODUCTION: compared()}, options["check"])
    for name, lines in tables(study, found).items():
        print(f"{name}:\n\n{pipes(lines)}\n")


if __name__ == "__main__":
    sys.exit(main())
