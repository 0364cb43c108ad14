"""``python -m scripts.ground_truth --help``."""

from ufs_bench.scripts.core.command_lines import of_experiment
from ufs_bench.scripts.core.entry import command
from ufs_bench.scripts.core.study import Study
from ufs_bench.scripts.core.text import deliver
from ufs_bench.scripts.ground_truth import recovered, truth_table


@command("ground_truth")
def main(options):
    """Print what is found, or write it to a file."""
    study = Study.find(options["results_dir"], options["study"]).filled()
    rows = recovered(study)
    if rows.empty:
        raise ValueError(
            f"study={study.own_name} has no results on data of known truth: run {of_experiment('ground_truth', study)}"
        )
    text = truth_table(rows) if options["format"] == "md" else rows.to_csv(index=False)
    deliver(text, options["output"])


if __name__ == "__main__":
    main()
