"""``python -m scripts.findings --help``."""

import re
import sys

from ufs_bench.runners.store.reference import PREFIX, shipped_studies
from ufs_bench.scripts.compare import compare_studies, controls_of, open_studies, other_readings, shipped_names
from ufs_bench.scripts.compare.comparison_page import comparison_page
from ufs_bench.scripts.core.conf import ROOT
from ufs_bench.scripts.core.entry import command
from ufs_bench.scripts.core.programs import renewed
from ufs_bench.scripts.core.study import Study
from ufs_bench.scripts.core.views import render
from ufs_bench.scripts.findings import clusters, settings_of
from ufs_bench.scripts.findings.findings_page import further, gain_rows, looks, page, paper
from ufs_bench.scripts.findings.panels import draw, draw_families, draw_sizes
from ufs_bench.scripts.findings.predictions import SEARCHED
from ufs_bench.scripts.versus.forest import drawn

STUDY = "reference/fair"
FINDINGS = "scripts.findings"
COMPARE = "scripts.compare"
PAPER = "paper/paper.md"
REPRODUCTION = "docs/reproduction.md"
MARKS = r"(<!-- printed by python -m {} -->\n).*?(\n<!-- end -->)"


def written(study):
    """Return the present text of every file, by its path."""
    opened = Study.open(ROOT / "results", study)
    return pages(opened, settings_for(opened)) | {ROOT / REPRODUCTION: filled(REPRODUCTION, COMPARE, compared())}


def settings_for(study):
    """Return the settings of an opened study; `STUDY` has other studies beside it."""
    if study.name != STUDY:
        return settings_of(study)
    shipped = [name for name in (SEARCHED, *clusters.STUDIES.values()) if name in shipped_studies()]
    beside = {name: Study.open(study.results_dir, f"{PREFIX}{name}") for name in shipped}
    others = {told: beside[name] for told, name in clusters.STUDIES.items() if name in beside}
    return settings_of(study, beside.get(SEARCHED), others)


def pages(study, settings):
    """Return the text of every file that rests on one opened study alone, by its path."""
    return {
        ROOT / "docs/findings.md": page(study.name, settings, looks(study, settings)),
        ROOT / "docs/findings.svg": drawn(draw(settings)),
        ROOT / "docs/sizes.svg": drawn(draw_sizes(settings[0].kinds)),
        ROOT / "docs/families.svg": drawn(draw_families(settings[0].kinds)),
        ROOT / PAPER: filled(PAPER, FINDINGS, paper(settings)),
    }


def compared():
    """Return the comparison of all that is shipped with the papers, its headings one level lower."""
    studies = open_studies(ROOT / "results", shipped_names())
    text = comparison_page(compare_studies(studies), controls_of(studies), True, other_readings(studies), cells=False)
    return re.sub("^#", "##", text, flags=re.MULTILINE).strip()


def filled(name, command, printed):
    """Return the text of a page in which the part that a command prints is replaced."""
    text = (ROOT / name).read_text(encoding="utf-8")
    marks = re.compile(MARKS.format(re.escape(command)), re.DOTALL)
    found, n_parts = marks.subn(lambda part: part[1] + printed + part[2], text)
    if n_parts != 1:
        raise ValueError(f"{name} must have one part <!-- printed by python -m {command} -->, not {n_parts}.")
    return found


@command("findings")
def main(options):
    """Print the findings, or write the pages that print them."""
    if options["further"]:
        return print(further(Study.open(options["results_dir"], options["further"])))
    if options["summary"]:
        from ufs_bench.scripts.findings.summary import save_summary

        settings = settings_for(Study.open(ROOT / "results", options["study"]))
        save_summary(options["study"], settings, options["summary"])
        return print(options["summary"])
    if options["write"] or options["check"]:
        return renewed(written(options["study"]), options["check"])
    study = Study.open(ROOT / "results", options["study"])
    settings = settings_for(study)
    print(render("findings/answer.md.j2", gains=gain_rows(settings), **looks(study, settings)), end="")


if __name__ == "__main__":
    sys.exit(main())
