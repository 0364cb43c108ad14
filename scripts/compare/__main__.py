"""``python -m scripts.compare --help``."""

from ufs_bench.runners.papers import PAPERS
from ufs_bench.scripts.compare import compare_studies, controls_of, open_studies, shipped_names
from ufs_bench.scripts.compare.tables import page
from ufs_bench.scripts.core.command_lines import check_stored
from ufs_bench.scripts.core.entry import command
from ufs_bench.scripts.core.text import deliver


@command("compare")
def main(options):
    """Print the comparison that the options describe, or write it to a file."""
    papers = [options["paper"]] if options["paper"] else list(PAPERS)
    names = dict.fromkeys(papers, options["study"]) if options["study"] else shipped_names(papers)
    studies = open_studies(options["results_dir"], names)
    if options["study"]:
        check_stored(studies[papers[0]])
    comparison = compare_studies(studies)
    if options["format"] == "csv":
        text = comparison.to_csv(index=False, float_format="{:z.4f}".format, lineterminator="\n")
    else:
        text = page(comparison, controls_of(studies), options["full"])
    deliver(text, options["output"])


if __name__ == "__main__":
    main()
