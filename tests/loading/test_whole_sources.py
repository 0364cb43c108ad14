"""A source of several files is there, or is downloaded, as a whole; one that may not be passed on is not offered."""

from io import BytesIO

import numpy as np
import pytest
from web_site import LABELS, SAMPLES, Page

from ufs_bench.datasets import DataError, DataMissing, load_dataset
from ufs_bench.datasets.files import checksum
from ufs_bench.datasets.load import addresses, candidates
from ufs_bench.datasets.spec import check_spec

LINES = "\n".join(f"kind {label}" for label in LABELS)


@pytest.fixture
def parts():
    """Return the files of a data set: its samples in two parts, and its labels."""
    found = {}
    for name, rows in (("first.npz", slice(0, 20)), ("second.npz", slice(20, None))):
        content = BytesIO()
        np.savez(content, X=SAMPLES[rows])
        found[name] = content.getvalue()
    return found | {"labels.txt": LINES.encode()}


@pytest.fixture
def whole(parts, site, tmp_path):
    """Return the specification of that data set on a web site."""
    files = []
    for name, content in parts.items():
        (tmp_path / "original").write_bytes(content)
        site.pages[f"/{name}"] = Page(content)
        digest = f"sha256:{checksum(tmp_path / 'original')}"
        files.append({"file": name, "checksum": digest, "bytes": len(content), "urls": [site.url(f"/{name}")]})
    labels = {"files": files[2:], "options": {"header": False}, "y": [0, 1]}
    source = {"format": "npz", "options": {"x": "X"}, "files": files[:2], "labels": labels}
    return check_spec({"name": "whole", "samples": 60, "features": 500, "classes": 3, "sources": [source]})


def asked(site):
    return [len(site.pages[path].asked) for path in ("/first.npz", "/second.npz", "/labels.txt")]


def test_all_files_are_downloaded_once(site, cache, whole):
    data = load_dataset(whole)
    np.testing.assert_array_equal(data.X, SAMPLES)
    np.testing.assert_array_equal(data.y, LABELS)
    assert load_dataset(whole).sha == data.sha and asked(site) == [1, 1, 1]


def test_a_damaged_file_of_several_is_fetched_alone(site, cache, whole):
    load_dataset(whole)
    (cache / "second.npz").write_bytes(b"<html>")
    assert load_dataset(whole).n_samples == 60
    assert asked(site) == [1, 2, 1]
    (cache / "labels.txt").write_bytes(b"other")
    with pytest.raises(DataMissing, match="is not on this machine"):
        load_dataset(whole, download=False)


def test_files_of_several_folders_are_no_source(site, cache, whole, parts, tmp_path):
    for place, names in (("one", ["first.npz"]), ("two", ["second.npz", "labels.txt"])):
        (tmp_path / place).mkdir()
        for name in names:
            (tmp_path / place / name).write_bytes(parts[name])
    folders = f"{tmp_path / 'one'}:{tmp_path / 'two'}"
    with pytest.raises(
        DataMissing, match="(?s)wanted: second.npz.*wanted: labels.txt.*all the files of a source into one"
    ):
        load_dataset(whole, folders, download=False)
    (tmp_path / "two" / "first.npz").write_bytes(parts["first.npz"])
    assert load_dataset(whole, folders, download=False).n_samples == 60
    assert asked(site) == [0, 0, 0]


def test_a_bad_file_of_ones_own_is_named_and_left_as_it_is(cache, whole, parts, tmp_path):
    for name, content in parts.items():
        (tmp_path / name).write_bytes(content if name != "labels.txt" else b"nothing")
    with pytest.raises(DataError, match="labels.txt is not the file it should be: .*nothing was changed"):
        load_dataset(whole, tmp_path)
    assert next(candidates(whole, tmp_path)).faulty == tmp_path / "labels.txt"
    assert (tmp_path / "labels.txt").read_bytes() == b"nothing"


def test_a_source_with_a_file_without_an_address_is_not_downloaded(site, cache, whole):
    del whole["sources"][0]["files"][0]["urls"]
    assert addresses(whole["sources"][0]) == []
    with pytest.raises(DataMissing, match="wanted: first.npz"):
        load_dataset(whole)
    assert asked(site) == [0, 0, 0]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"file": "a.npz"}, "files must not have .'file'. beside it"),
        ({"files": []}, r"files=\[\] must have one at least"),
        ({"files": ["a.npz"]}, "files: 'a.npz' must be a mapping with file"),
        ({"files": [{"file": "a.npz", "format": "npz"}]}, "may have .*file.* only"),
        ({"files": [{"file": "../a.npz"}]}, "must be a bare name"),
        ({"files": [{"file": "a.npz", "urls": ["https://a"]}]}, "checksum=None must be"),
        ({"labels": {"y": "kind"}}, "must have files, one at least"),
        ({"labels": {"files": [{"file": "a.csv"}], "others": "keep"}}, "others='keep' must be drop"),
        ({"labels": {"files": [{"file": "a.csv"}], "format": "npz"}}, "format='npz' must be in .*csv"),
        ({"labels": {"files": [{"file": "a.csv"}], "column": 1}}, "may have .* only"),
    ],
)
def test_a_wrong_list_of_files_says_what_is_wrong(whole, change, words):
    whole["sources"] = [whole["sources"][0] | change]
    with pytest.raises(DataError, match=words):
        check_spec(whole)
