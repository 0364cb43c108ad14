"""``python -m scripts.make_figure --help``."""

from pathlib import Path

from ufs_bench.runners.store.reference import PREFIX
from ufs_bench.scripts.core.command_lines import MissingResults, fill_pairs, no_results, with_commands
from ufs_bench.scripts.core.entry import command
from ufs_bench.scripts.core.study import Study
from ufs_bench.scripts.make_figure import FIGURES, save
from ufs_bench.scripts.make_figure.options import file_name, settings_of
from ufs_bench.scripts.make_figure.style import take_away


@command("make_figure")
def main(options):
    """Draw the figure that the options describe and print where it is."""
    study, draw = Study.find(options["results_dir"], options["study"], options["data_dir"]), FIGURES[options["draw"]]
    try:
        settings = settings_of(options, draw, study)
        figure = draw(study, **settings)
    except MissingResults as error:
        lines = fill_pairs(error.cells, study, options["protocol"].removeprefix(PREFIX), options.get("grid"))
        raise ValueError(with_commands(no_results(study) if study.trials.empty else error, lines)) from error
    take_away(figure, *(text for text in ("title", "note") if not options[text]))
    folder = study.output_dir / "figures"
    path = Path(options["output"]) if options["output"] else folder / file_name(options, settings)
    for file in save(figure, path):
        print(file)


if __name__ == "__main__":
    main()
