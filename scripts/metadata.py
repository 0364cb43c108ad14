"""Write what describes the shipped results to programs and archives, from `runners.store.columns` and pyproject.toml.

python -m scripts.metadata             results/reference/datapackage.json (Frictionless) and croissant.json,
                                       .zenodo.json, the version in CITATION.cff, and the table of columns in
                                       docs/shipped.md
python -m scripts.metadata --check     write nothing; status 1 where something differs
"""

import json
import re
import sys
import tomllib

import pyarrow.parquet as pq
import yaml

from runners.code import ROOT
from runners.store.columns import COLUMNS
from runners.store.reference import PROTOCOL, SHIPPED, files_of, shipped_studies
from scripts.core.programs import parser_of, program, renewed
from scripts.core.text import pipes
from scripts.core.views import render
from scripts.findings.__main__ import filled

# Types of Frictionless and of Croissant by those of Arrow.
TYPES = {
    "string": ("string", "sc:Text"),
    "bool": ("boolean", "sc:Boolean"),
    **dict.fromkeys(("int32", "int64"), ("integer", "sc:Integer")),
    **dict.fromkeys(("float32", "float64"), ("number", "sc:Float")),
}
PAGE = "docs/shipped.md"


def descriptions(version):
    """Return the descriptions of the shipped results, as plain containers, by the keys of their template."""
    studies = {
        name: {
            "paths": [path.relative_to(SHIPPED).as_posix() for path in files_of(name).values()],
            "columns": [(column, *TYPES[column.type.removesuffix("[]")]) for column in columns_of(name)],
        }
        for name in shipped_studies()
    }
    return yaml.safe_load(render("metadata.yaml.j2", version=version, studies=studies, protocol=PROTOCOL))


def columns_of(study):
    """Return the columns that files of a shipped study have: one packed earlier lacks those that came later."""
    there = {name for path in files_of(study).values() for name in pq.read_schema(path).names}
    return [column for column in COLUMNS if column.name in there]


def written():
    """Return the text of every file, by its path."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    places = {"datapackage": SHIPPED / "datapackage.json", "croissant": SHIPPED / "croissant.json"}
    places["zenodo"] = ROOT / ".zenodo.json"
    # Without indents, which are a quarter of these files.
    found = {places[name]: json.dumps(made, indent=0) + "\n" for name, made in descriptions(version).items()}
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    found[ROOT / "CITATION.cff"] = re.sub("^version: .*$", f"version: {version}", citation, flags=re.MULTILINE)
    lines = [(f"`{column.name}`", column.type, column.unit, column.words) for column in COLUMNS]
    table = pipes([("column", "type", "unit", "what it is"), *lines])
    return found | {ROOT / PAGE: filled(PAGE, "scripts.metadata", table)}


def main():
    """Run the command line."""
    parser = parser_of("scripts.metadata", __doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; status 1 where something differs")
    sys.exit(renewed(written(), parser.parse_args().check))


if __name__ == "__main__":
    with program():
        main()
