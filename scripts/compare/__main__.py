"""``python -m scripts.compare --help``."""

from scripts.compare import compare_studies, controls_of, open_studies, other_readings, shipped_names
from scripts.compare.comparison_page import comparison_page
from scripts.core.command_lines import check_stored
from scripts.core.entry import command
from scripts.core.published import PAPERS
from scripts.core.text import deliver


@command("compare")
def main(options):
    """Print the comparison that the options describe, or write it to a file."""
    papers, shipped = [options["paper"]] if options["paper"] else list(PAPERS), options["study"] == "reference"
    quick = options["quick"] if isinstance(options["quick"], list) else PAPERS if options["quick"] else ()
    names = {paper: options["study"] or f"{paper}{'_quick' if paper in quick else ''}" for paper in papers}
    names = shipped_names(papers) if shipped else names
    studies = open_studies(options["results_dir"], names)
    if options["study"] and not shipped:
        check_stored(studies[papers[0]])
    comparison = compare_studies(studies, options["selection"])
    if options["format"] == "csv":
        text = comparison.to_csv(index=False, float_format="{:z.4f}".format, lineterminator="\n")
    else:
        full = options["full"]
        others = other_readings(studies, options["selection"]) if full else {}
        text = comparison_page(comparison, controls_of(studies, options["selection"]), full, others)
    deliver(text, options["output"])


if __name__ == "__main__":
    main()
