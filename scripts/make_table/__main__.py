"""``python -m scripts.make_table --help``."""

import sys

import hydra
from hydra.core.hydra_config import HydraConfig
from omegaconf import OmegaConf

from metrics.study.summary import SELECTIONS
from scripts.core.conf import CONF, read_group
from scripts.core.study import Study
from scripts.core.tables import TableSpec
from scripts.core.text import deliver
from scripts.make_table import FORMATS, make_table
from scripts.make_table.formats import to_markdown


@hydra.main(version_base="1.3", config_path=str(CONF), config_name="make_table")
def main(config):
    """Print the table that `config` describes, or write it to a file."""
    for name, options in (("format", FORMATS), ("selection", SELECTIONS)):
        if config[name] not in options:
            sys.exit(f"{name}={config[name]} must be one of {', '.join(options)}.")
    try:
        spec = config.get("table")
        spec = OmegaConf.to_container(spec, resolve=True) if OmegaConf.is_config(spec) else spec
        spec = TableSpec.check(spec, HydraConfig.get().runtime.choices["table"])
        table = make_table(spec, Study.open(config.results_dir, config.study), config.selection)
    except ValueError as error:
        sys.exit(f"error: {error}")
    text = to_markdown(table, config.width) if config.format == "md" else FORMATS[config.format](table)
    deliver(text, config.output)


if __name__ == "__main__":
    try:  # Hydra would answer a slip in YAML with a traceback
        read_group("table")
    except ValueError as error:
        sys.exit(f"error: {error}")
    main()
