"""Specifications of data sets: those that ship are whole, and a wrong one is a clear error."""

import difflib
import json
import re

import pytest
import yaml
from small_data import spec_of

from ufs_bench.datasets import DataError, dataset_names, load_dataset, read_spec
from ufs_bench.datasets.load import addresses
from ufs_bench.datasets.spec import FOLDER, KEYS, REQUIRED, SOURCE, check_spec

pytestmark = pytest.mark.usefixtures("cache")  # so that no test sees the user's folders
ODD = [
    None, "", " ", 0, -1, 1.5, True, float("nan"), 2**70, "x", [], ["x"], [None], {}, {"x": 1}, {1: 2}, "a\0b", "../x"
]  # fmt: skip


@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("*.yaml")))
def test_every_specification_is_whole_and_can_be_had(name):
    spec = read_spec(name)
    assert spec["name"] == name
    assert REQUIRED <= set(spec) <= KEYS
    obtainable = [source for source in spec["sources"] if addresses(source) or "file" not in source]
    assert bool(obtainable) != ("withheld" in spec)
    for url in (url for source in obtainable for url in addresses(source)):
        pinned = r"https://(raw\.githubusercontent\.com/[\w-]+/[\w-]+/[0-9a-f]{40}|cdn\.jsdelivr\.net/gh/[^@]+@[0-9a-f]{40})/"
        assert re.match(pinned, url) or re.fullmatch(r"https://www\.openml\.org/d/\d+", url)
        assert re.fullmatch(r"[\w./:@%~-]+", url), "escape what is no plain character"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"samples": "6"}, "samples='6' must be an int >= 2"),
        ({"classes": 1}, "classes=1 must be an int >= 2"),
        ({"citation": None}, "citation=None must be a text"),
        ({"sample": 6}, "differs in {'sample'}"),
        ({"image": {"height": 2, "width": 3, "order": "row"}}, "6 pixels, not features=4"),
        ({"image": {"height": 2, "width": 2, "order": "columns"}}, "must be row or column"),
        ({"family": "new faces"}, "family='new faces' must be letters, digits and _, such as faces"),
        ({"family": None}, "family=None must be a text"),
        ({"same_source_as": "small"}, "same_source_as='small' must be another data set"),
        ({"sources": []}, "at least one"),
        ({"sources": [{"file": "a.mat", "format": "mat", "urls": ["https://a"]}]}, "checksum=None"),
        (
            {"sources": [{"format": "digits", "fill": "mean"}]},
            "fill='mean' must be a number or one of error, median, drop",
        ),
        ({"clusters": 1}, "clusters=1 must be an int >= 2"),
        ({"sources": [{"file": "a.mat", "format": "mat", "checksum": "md5:1"}]}, "checksum='md5:1'"),
        ({"sources": [{"file": "../a.mat", "format": "mat", "checksum": "sha256:" + 64 * "0"}]}, "bare name"),
        ({"sources": [{"format": "matlab"}]}, "format='matlab'"),
        ({"sources": [{"format": "digits", "url": "x"}]}, "url"),
    ],
)
def test_a_wrong_specification_says_what_is_wrong(mat, change, words):
    with pytest.raises(DataError, match=re.escape(words)):
        check_spec(spec_of(mat, **change))


def test_a_file_name_that_is_not_the_data_sets_is_refused(tmp_path, monkeypatch, mat):
    monkeypatch.setattr("ufs_bench.datasets.spec.FOLDER", tmp_path)
    (tmp_path / "other.yaml").write_text(yaml.safe_dump(spec_of(mat)))
    with pytest.raises(DataError, match="name is 'small'"):
        read_spec("other")


def test_a_source_is_a_data_set_that_is_there_and_has_no_other_source(tmp_path, monkeypatch, mat):
    monkeypatch.setattr("ufs_bench.datasets.spec.FOLDER", tmp_path)
    for name, other in (("a", {}), ("b", {"same_source_as": "a"}), ("c", {"same_source_as": "b"})):
        (tmp_path / f"{name}.yaml").write_text(yaml.safe_dump(spec_of(mat) | {"name": name} | other))
    assert read_spec("b")["same_source_as"] == "a"
    with pytest.raises(DataError, match="same_source_as='b' is itself of 'a'; name that one"):
        read_spec("c")
    (tmp_path / "a.yaml").unlink()
    with pytest.raises(DataError, match="same_source_as='a' must be in b, c"):
        read_spec("b")


def test_families_and_sources_of_the_papers_data_sets():
    specs = {name: read_spec(name) for name in dataset_names()}
    copies = {name: spec["same_source_as"] for name, spec in specs.items() if "same_source_as" in spec}
    assert copies == {
        "att": "orl", "gina": "mnist", "mnist500": "mnist", "usps_asu": "usps",
        "webkb": "webkb4", "webkb4_tf": "webkb4",
    }  # fmt: skip
    assert all(specs[name]["family"] == specs[other]["family"] for name, other in copies.items())
    assert [name for name, spec in specs.items() if "family" not in spec] == ["dilbert", "fabert"]


def test_no_family_is_a_slip_of_another():
    """A family has any name, so that a slip would make a new one."""
    families = {spec["family"] for spec in map(read_spec, dataset_names()) if "family" in spec}
    near = {one: difflib.get_close_matches(one, families - {one}, cutoff=0.85) for one in families}
    assert not any(near.values()), near
    assert len(families) >= 24


def test_a_specification_survives_json_as_a_results_row_holds_it():
    spec = read_spec("mnist500")
    assert load_dataset(json.loads(json.dumps(spec))).sha == spec["data_sha256"]


@pytest.mark.parametrize(
    ("key", "of_source"), [*((key, False) for key in sorted(KEYS)), *((key, True) for key in sorted(SOURCE))]
)
def test_whatever_a_specification_or_a_source_says_is_taken_or_is_a_clear_error(mat, key, of_source):
    for odd in ODD:
        spec = spec_of(mat)
        (spec["sources"][0] if of_source else spec)[key] = odd
        try:
            found = check_spec(spec)
            assert (found["sources"][0] if of_source else found)[key] is odd
        except DataError as error:
            assert (not of_source or key in str(error)) and "specification" in str(error) and "\n" not in str(error)
