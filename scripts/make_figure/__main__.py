"""``python -m scripts.make_figure --help``."""

from pathlib import Path

from hydra.core.hydra_config import HydraConfig
from omegaconf import OmegaConf

from runners.cli.boundary import end
from runners.errors import ConfigError
from runners.experiment.kinds import check_fields
from runners.store.reference import PREFIX
from scripts.core.command_lines import MissingResults, fill_pairs, no_results, with_commands
from scripts.core.entry import command
from scripts.core.options import OPTIONS
from scripts.core.study import Study
from scripts.make_figure import FIGURES, save
from scripts.make_figure.options import file_name, settings_of
from scripts.make_figure.style import take_away


@command("make_figure")
def main(options):
    """Draw the figure that the options describe and print where it is."""
    name = HydraConfig.get().runtime.choices.get("figure")
    if options.get("draw") not in FIGURES:
        raise ValueError(f"figure={name} is not available: {options.get('reason', 'its file says not what to draw.')}")
    study, draw = Study.open(options["results_dir"], options["study"], options["data_dir"]), FIGURES[options["draw"]]
    try:
        settings = settings_of(options, name, draw, study)
        figure = draw(study, **settings)
    except MissingResults as error:
        lines = fill_pairs(error.cells, study, options["protocol"].removeprefix(PREFIX), options.get("grid"))
        raise ValueError(with_commands(no_results(study) if study.trials.empty else error, lines)) from error
    take_away(figure, *(text for text in ("title", "note") if not options[text]))
    folder = study.output_dir / "figures"
    path = Path(options["output"]) if options["output"] else folder / file_name(name, settings)
    for file in save(figure, path):
        print(file)


def _folder(*, _root_):
    """Return the folder for Hydra's files of a sweep; it is made before `main` runs, so a wrong name ends it here."""
    given = {name: OmegaConf.select(_root_, name) for name in ("study", "results_dir")}
    try:
        check_fields("make_figure", given, OPTIONS["make_figure"])
    except ConfigError as error:
        end(f"error: {error}", 1)
    return str(Path(given["results_dir"]) / given["study"].replace("/", "-") / "figures" / ".hydra")


OmegaConf.register_new_resolver("figures_folder", _folder, replace=True)

if __name__ == "__main__":
    main()
