"""``python -m scripts.make_figure --help``."""

import sys
from pathlib import Path

import hydra
from hydra.core.hydra_config import HydraConfig
from omegaconf import OmegaConf

from scripts.core.commands import MissingResults, fill_pairs, no_results, with_commands
from scripts.core.conf import CONF
from scripts.core.study import Study
from scripts.make_figure import FIGURES, save
from scripts.make_figure.options import file_name, settings_of


@hydra.main(version_base="1.3", config_path=str(CONF / "make_figure"), config_name="config")
def main(config):
    """Draw the figure that `config` describes and print where it is."""
    name = HydraConfig.get().runtime.choices["figure"]
    config = OmegaConf.to_container(config, resolve=True)
    if config["draw"] not in FIGURES:
        sys.exit(f"figure={name} is not available: {config['reason']}")
    study, draw = Study.open(config["results_dir"], config["study"], config["data_dir"]), FIGURES[config["draw"]]
    try:
        settings = settings_of(config, name, draw, study)
        figure = draw(study, **settings)
    except MissingResults as error:
        lines = fill_pairs(error.cells, study, config["protocol"], config.get("grid"))
        sys.exit(with_commands(no_results(study) if study.trials.empty else error, lines))
    except ValueError as error:
        sys.exit(f"error: {error}")
    folder = Path(config["results_dir"]) / config["study"] / "figures"
    path = Path(config["output"]) if config["output"] else folder / file_name(name, settings)
    for file in save(figure, path):
        print(file)


if __name__ == "__main__":
    main()
