"""Mistakes in a file of conf/table: each is an error that says what to write instead."""

from dataclasses import asdict, replace

import pytest

from ufs_bench.scripts.core.conf import read
from ufs_bench.scripts.core.papers import TableSpec, read_table
from ufs_bench.scripts.make_table import make_table


@pytest.fixture
def spec():
    return asdict(read_table("demo"))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"row": ["mcfs"]}, "has no option row. Did you mean rows?"),
        ({"metric": "ac"}, "metric=ac must be one of acc, nmi, nearest_neighbour"),
        ({"paper": "rusf"}, "paper=rusf must be one of rufs, .*null"),
        ({"rows": "mcfs"}, "rows=mcfs must be a list"),
        ({"columns": []}, r"columns=\[\] must be a list"),
        ({"published_as": None}, "published_as=null must be {}"),
        ({"study": None}, "study=null must be a text"),
    ],
)
def test_a_key_or_value_that_a_table_cannot_have_is_refused(spec, changed, message):
    with pytest.raises(ValueError, match=f"table=mine:? {message}"):
        TableSpec.check({**spec, **changed}, "mine")


@pytest.mark.parametrize("key", ["rows", "published_as", "title"])
def test_a_key_that_is_missing_is_named(spec, key):
    del spec[key]
    with pytest.raises(ValueError, match=f"table=mine lacks {key}"):
        TableSpec.check(spec, "mine")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"columns": ["sample"]}, "'sample' must be one of samples, .*Did you mean samples"),
        ({"rows": ["umits"]}, "Did you mean umist"),
        ({"paper": None}, "paper=null must be one of rufs"),
    ],
)
def test_a_table_of_shapes_refuses_what_it_cannot_show(changed, message):
    with pytest.raises(ValueError, match=message):
        make_table(replace(read_table("dgufs_table1"), **changed), None)


def test_a_table_of_shapes_may_have_fewer_rows_than_the_paper():
    assert list(make_table(replace(read_table("dgufs_table1"), rows=["umist"]), None).rows) == [("umist",)]


def test_a_file_that_is_no_yaml_is_named_with_the_line(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text("name: mine\nrows: [mcfs\ncolumns: [umist]\n")
    with pytest.raises(ValueError, match=r"mine.yaml is no YAML: line 2: .*; line 3: did not find expected"):
        read(file)
