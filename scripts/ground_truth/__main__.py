"""``python -m scripts.ground_truth --help``."""

from pathlib import Path

from ufs_bench.scripts.core.command_lines import of_experiment
from ufs_bench.scripts.core.entry import command
from ufs_bench.scripts.core.study import Study
from ufs_bench.scripts.core.text import deliver
from ufs_bench.scripts.ground_truth import recovered
from ufs_bench.scripts.ground_truth.truth_page import ground_truth_figure, truth_table
from ufs_bench.scripts.make_figure import save


@command("ground_truth")
def main(options):
    """Print what is found, or write it to a file, and draw it."""
    study = Study.find(options["results_dir"], options["study"]).filled()
    rows = recovered(study)
    if rows.empty:
        raise ValueError(
            f"study={study.own_name} has no results on data of known truth: run {of_experiment('ground_truth', study)}"
        )
    text = truth_table(rows) if options["format"] == "md" else rows.to_csv(index=False)
    deliver(text, options["output"])
    if options["figure"]:
        for path in save(ground_truth_figure(rows, study.own_name), Path(options["figure"])):
            print(path)


if __name__ == "__main__":
    main()
