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

import yaml

from runners.code import ROOT
from runners.store.columns import COLUMNS
from runners.store.reference import PROTOCOL, SHIPPED, files_of, shipped_studies
from scripts.core.programs import parser_of, program, renewed
from scripts.core.text import pipes
from scripts.core.views import render
from scripts.findings.__main__ import filled

WORDS = (
    "Every fit of the shipped studies: parameters, selected features, learned labels, objective after every sweep, "
    "seconds and memory, and the scores of every feature set. The data sets themselves are not among them."
)
# Types of Frictionless and of Croissant by those of Arrow.
TYPES = {
    "string": ("string", "sc:Text"),
    "bool": ("boolean", "sc:Boolean"),
    **dict.fromkeys(("int32", "int64"), ("integer", "sc:Integer")),
    **dict.fromkeys(("float32", "float64"), ("number", "sc:Float")),
}
PAGE = "docs/shipped.md"


def described(version):
    """Return the descriptions of Frictionless, Croissant and Zenodo, by the paths of their files."""
    studies = {
        name: [path.relative_to(SHIPPED).as_posix() for path in files_of(name).values()] for name in shipped_studies()
    }
    values = {"studies": studies, "columns": COLUMNS, "types": TYPES, "protocol": PROTOCOL, "words": WORDS}
    return yaml.safe_load(render("metadata.yaml.j2", **values, version=version))


def columns_table():
    """Return the columns of the tidy frame as a table of Markdown."""
    lines = [(f"`{column.name}`", column.type, column.unit, column.words) for column in COLUMNS]
    return pipes([("column", "type", "unit", "what it is"), *lines])


def written():
    """Return the text of every file, by its path."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    found = {ROOT / path: json.dumps(content, indent=1) + "\n" for path, content in described(version).items()}
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    found[ROOT / "CITATION.cff"] = re.sub("^version: .*$", f"version: {version}", citation, flags=re.MULTILINE)
    return found | {ROOT / PAGE: filled(PAGE, "scripts.metadata", columns_table())}


def main():
    """Run the command line."""
    parser = parser_of("metadata", __doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; status 1 where something differs")
    sys.exit(renewed(written(), parser.parse_args().check))


if __name__ == "__main__":
    with program():
        main()
