"""``python -m scripts.make_table --help``."""

from hydra.core.hydra_config import HydraConfig

from scripts.core.entry import command
from scripts.core.study import Study
from scripts.core.tables import TableSpec
from scripts.core.text import deliver
from scripts.make_table import FORMATS, make_table
from scripts.make_table.formats import to_markdown


def read_spec(content):
    """Return the checked table of a configuration."""
    return TableSpec.check(content, HydraConfig.get().runtime.choices.get("table"))


@command("make_table", parts={"table": read_spec})
def main(options):
    """Print the table that the options describe, or write it to a file."""
    table = make_table(options["table"], Study.open(options["results_dir"], options["study"]), options["selection"])
    form = options["format"]
    text = to_markdown(table, options["width"]) if form == "md" else FORMATS[form](table)
    deliver(text, options["output"])


if __name__ == "__main__":
    main()
