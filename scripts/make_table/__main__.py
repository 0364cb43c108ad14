"""``python -m scripts.make_table --help``."""

import sys
from pathlib import Path

import hydra
from hydra.core.hydra_config import HydraConfig
from omegaconf import OmegaConf

from metrics.study.summary import SELECTIONS
from scripts.core.conf import CONF, check_table, read
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
        check_table(spec, HydraConfig.get().runtime.choices["table"])
        table = make_table(spec, config.results_dir, config.study, config.selection)
    except ValueError as error:
        sys.exit(f"error: {error}")
    text = to_markdown(table, config.width) if config.format == "md" else FORMATS[config.format](table)
    if config.output is None:
        print(text, end="")
        return
    path = Path(config.output)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    print(path)


if __name__ == "__main__":
    try:  # Hydra would answer a slip in YAML with a traceback
        for file in sorted((CONF / "table").glob("*.yaml")):
            read(file)
    except ValueError as error:
        sys.exit(f"error: {error}")
    main()
