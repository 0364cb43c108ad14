"""``python -m scripts.make_figure --help``."""

import sys
from pathlib import Path

import hydra
from hydra.core.hydra_config import HydraConfig
from omegaconf import OmegaConf

from metrics.study.summary import summarise
from runners.store import load_results
from scripts.core.conf import CONF
from scripts.core.missing import MissingResults, fill, no_results, with_commands
from scripts.core.study import Study
from scripts.make_figure import FIGURES, file_name, save, settings_of


@hydra.main(version_base="1.3", config_path=str(CONF / "figures"), config_name="config")
def main(config):
    """Draw the figure that `config` describes and print where it is."""
    name = HydraConfig.get().runtime.choices["figure"]
    config = OmegaConf.to_container(config, resolve=True)
    if config["draw"] not in FIGURES:
        sys.exit(f"figure={name} is not available: {config['reason']}")
    results = load_results(config["results_dir"], study=config["study"])
    try:
        settings = settings_of(config, name, results.trials)
        study = Study(results, summarise(results.trials, results.scores), config["data_dir"])
        figure = FIGURES[config["draw"]](study, **settings)
    except MissingResults as error:
        lines = fill(error.cells, results.trials, config["study"], config["protocol"], config.get("grid"))
        text = no_results(config["results_dir"], config["study"]) if results.trials.empty else error
        sys.exit(with_commands(text, lines))
    except ValueError as error:
        sys.exit(f"error: {error}")
    folder = Path(config["results_dir"]) / config["study"] / "figures"
    path = Path(config["output"]) if config["output"] else folder / file_name(name, settings)
    for file in save(figure, path):
        print(file)


if __name__ == "__main__":
    main()
