"""Write what describes the shipped results to programs and archives, from `runners.store.columns` and pyproject.toml.

python -m scripts.metadata             results/reference/datapackage.json (Frictionless) and croissant.json,
                                       .zenodo.json, the version in CITATION.cff, and the table of columns in
                                       docs/shipped.md
python -m scripts.metadata --check     write nothing; status 1 where something differs
"""

import functools
import json
import re
import sys
import tomllib

import pyarrow.parquet as pq

from runners.code import ROOT
from runners.store.columns import COLUMNS
from runners.store.reference import PROTOCOL, SHIPPED, files_of, shipped_studies
from scripts.core.programs import parser_of, program, renewed
from scripts.core.text import pipes
from scripts.findings.__main__ import filled

TITLE = "ufs-bench: results of a benchmark of unsupervised feature selection"
WORDS = (
    "Every fit of the shipped studies: parameters, selected features, learned labels, objective after every sweep, "
    "seconds and memory, and the scores of every feature set. The data sets themselves are not among them."
)
LICENSE = {"name": "CC-BY-4.0", "path": "https://creativecommons.org/licenses/by/4.0/", "title": "CC BY 4.0"}
# Types of Frictionless and of Croissant by those of Arrow.
TYPES = {
    "string": ("string", "sc:Text"),
    "bool": ("boolean", "sc:Boolean"),
    **dict.fromkeys(("int32", "int64"), ("integer", "sc:Integer")),
    **dict.fromkeys(("float32", "float64"), ("number", "sc:Float")),
}
PAGE = "docs/shipped.md"


def datapackage(version):
    """Return the description of a Frictionless data package: a resource for each study."""
    fields = {
        column.name: {
            "name": column.name,
            "type": "array" if column.type.endswith("[]") else TYPES[column.type][0],
            "description": column.words,
            **({"unit": column.unit} if column.unit else {}),
        }
        for column in COLUMNS
    }
    resources = [
        {
            "name": name.replace("_", "-"),
            "path": [path.relative_to(SHIPPED).as_posix() for path in files_of(name).values()],
            "format": "parquet",
            "mediatype": "application/vnd.apache.parquet",
            "description": f"protocol: {name}/{PROTOCOL}",
            "schema": {
                "fields": [fields[column.name] for column in columns_of(name)],
                "primaryKey": ["trial", "n_selected", "clusterer"],
            },
        }
        for name in shipped_studies()
    ]
    return {
        "$schema": "https://datapackage.org/profiles/2.0/datapackage.json",
        "name": "ufs-bench-results",
        "title": TITLE,
        "description": WORDS,
        "version": version,
        "licenses": [LICENSE],
        "resources": resources,
    }


@functools.cache  # by both descriptions
def columns_of(study):
    """Return the columns that files of a shipped study have: one packed earlier lacks those that came later."""
    there = {name for path in files_of(study).values() for name in pq.read_schema(path).names}
    return [column for column in COLUMNS if column.name in there]


def croissant(version):
    """Return the description in Croissant 1.0: a set of files and a set of records for each study."""
    repository = {
        "@type": "cr:FileObject",
        "@id": "repository",
        "name": "repository",
        "contentUrl": ".",
        "encodingFormat": "git+https",
        "sha256": "https://github.com/mlcommons/croissant/issues/80",  # as the specification says of a repository
    }
    files = [
        {
            "@type": "cr:FileSet",
            "@id": f"{name}-files",
            "containedIn": {"@id": "repository"},
            "encodingFormat": "application/x-parquet",
            "includes": f"results/reference/{name}/*.parquet",
        }
        for name in shipped_studies()
    ]
    records = [
        {
            "@type": "cr:RecordSet",
            "@id": name,
            "name": name,
            "key": [{"@id": f"{name}/{key}"} for key in ("trial", "n_selected", "clusterer")],
            "field": [
                {
                    "@type": "cr:Field",
                    "@id": f"{name}/{column.name}",
                    "name": column.name,
                    "description": column.words + (f" [{column.unit}]" if column.unit else ""),
                    "dataType": TYPES[column.type.removesuffix("[]")][1],
                    **({"repeated": True} if column.type.endswith("[]") else {}),
                    "source": {"fileSet": {"@id": f"{name}-files"}, "extract": {"column": column.name}},
                }
                for column in columns_of(name)
            ],
        }
        for name in shipped_studies()
    ]
    terms = "extract field fileSet includes key recordSet repeated source column containedIn fileObject".split()
    context = {
        "@language": "en",
        "@vocab": "https://schema.org/",
        "sc": "https://schema.org/",
        "cr": "http://mlcommons.org/croissant/",
        "dct": "http://purl.org/dc/terms/",
        "conformsTo": "dct:conformsTo",
        "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
        **{term: f"cr:{term}" for term in terms},
    }
    return {
        "@context": context,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": "ufs-bench-results",
        "description": WORDS,
        "version": version,
        "license": LICENSE["path"],
        "distribution": [repository, *files],
        "recordSet": records,
    }


def zenodo(version):
    """Return what Zenodo reads of a release: the program with its results."""
    return {
        "title": TITLE,
        "upload_type": "software",
        "version": version,
        "description": f"{WORDS} The program is under BSD-3-Clause, what is in results/reference under CC BY 4.0.",
        "creators": [{"name": "The ufs-bench developers"}],
        "license": "BSD-3-Clause",
        "keywords": ["unsupervised feature selection", "benchmark", "reproducibility"],
    }


def columns_table():
    """Return the columns of the tidy frame as a table of Markdown."""
    lines = [(f"`{column.name}`", column.type, column.unit, column.words) for column in COLUMNS]
    return pipes([("column", "type", "unit", "what it is"), *lines])


def written():
    """Return the text of every file, by its path."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    made = {SHIPPED / "datapackage.json": datapackage, SHIPPED / "croissant.json": croissant}
    made |= {ROOT / ".zenodo.json": zenodo}
    found = {path: json.dumps(make(version), indent=1) + "\n" for path, make in made.items()}
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
