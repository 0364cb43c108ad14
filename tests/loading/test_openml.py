"""Data sets from OpenML, as scikit-learn fetches them, against a server on the loopback address."""

import json
import re
from hashlib import md5
from urllib.request import Request, urlopen

import numpy as np
import pytest
from web_site import Hostile, Page

from ufs_bench.datasets import DataError, load_dataset

ARFF = "\n".join(
    [
        "@RELATION toy",
        *(f"@ATTRIBUTE pixel{column} NUMERIC" for column in range(4)),
        "@ATTRIBUTE class {1, 10, 2}",
        "@DATA",
        *(f"{row},{row * row % 7},{row / 4},0,{[10, 2, 1][row % 3]}" for row in range(30)),
    ]
).encode()


@pytest.fixture
def openml(site, cache, monkeypatch, spec):
    """Let the site answer as openml.org does for data set 77; return the specification of that."""
    features = [
        {"index": str(i), "name": f"pixel{i}", "data_type": "numeric", "is_target": "false"} for i in range(4)
    ] + [
        {"index": "4", "name": "class", "data_type": "nominal", "nominal_value": ["1", "10", "2"], "is_target": "true"}
    ]
    for feature in features:
        feature.update(is_ignore="false", is_row_identifier="false", number_of_missing_values="0")
    description = {
        "id": "77", "name": "toy", "version": "1", "format": "ARFF", "status": "active", "description": "a toy",
        "file_id": "5", "default_target_attribute": "class", "md5_checksum": md5(ARFF).hexdigest(),
        "url": "https://www.openml.org/data/v1/download/5/toy.arff",
    }  # fmt: skip
    qualities = [{"name": "NumberOfInstances", "value": "30.0"}]
    answers = {
        "/api/v1/json/data/77": {"data_set_description": description},
        "/api/v1/json/data/features/77": {"data_features": {"feature": features}},
        "/api/v1/json/data/qualities/77": {"data_qualities": {"quality": qualities}},
    }
    site.pages.update({path: Page(json.dumps(answer).encode(), kind="text/json") for path, answer in answers.items()})
    site.pages["/data/v1/download/5/toy.arff"] = Page(ARFF)

    def to_the_site(request, *args, **kwargs):
        url = request.full_url.replace("https://www.openml.org", site.url(""))
        assert url != request.full_url
        return urlopen(Request(url), *args, **kwargs)

    monkeypatch.setattr("sklearn.datasets._openml.urlopen", to_the_site)
    made = spec(samples=12)
    source = {
        "file": "toy_openml77.npz",
        "format": "npz",
        "options": {"x": "X", "y": "y"},
        "openml": 77,
        "per_class": 4,
    }
    return made | {"samples": 12, "features": 4, "classes": 3, "sources": [source]}


def test_an_openml_data_set_is_made_once_and_kept_with_a_checksum(openml, site, cache):
    dataset = load_dataset(openml)
    np.testing.assert_array_equal(dataset.X[:, 0], [2, 5, 8, 11, 1, 4, 7, 10, 0, 3, 6, 9])
    np.testing.assert_array_equal(dataset.y, np.repeat([0, 1, 2], 4))
    assert load_dataset(openml).sha == dataset.sha
    assert site.pages["/data/v1/download/5/toy.arff"].asked == [None]
    kept = sorted(path.name for path in cache.iterdir() if not path.name.startswith("."))
    assert kept == ["toy_openml77.npz", "toy_openml77.npz.sha256"]


def test_a_file_made_from_openml_serves_in_a_folder_of_the_users_with_its_checksum_only(openml, cache, tmp_path):
    dataset = load_dataset(openml)
    (tmp_path / "mine").mkdir()
    (cache / "toy_openml77.npz").rename(tmp_path / "mine/toy_openml77.npz")
    with pytest.raises(DataError, match=re.escape("toy_openml77.npz.sha256 is missing beside it")):
        load_dataset(openml, data_dir=tmp_path / "mine", download=False)
    (cache / "toy_openml77.npz.sha256").rename(tmp_path / "mine/toy_openml77.npz.sha256")
    assert load_dataset(openml, data_dir=tmp_path / "mine", download=False).sha == dataset.sha


def test_a_bad_file_made_from_openml_is_made_again(openml, site, cache):
    sha = load_dataset(openml).sha
    path = cache / "toy_openml77.npz"
    path.write_bytes(path.read_bytes()[:-5])
    assert load_dataset(openml).sha == sha


def test_a_sparse_openml_data_set_is_the_same(openml, site, cache):
    dense = load_dataset(openml)
    rows = [line.split(",") for line in ARFF.decode().split("@DATA\n")[1].splitlines()]
    sparse = ["{" + ", ".join(f"{i} {value}" for i, value in enumerate(row) if value != "0") + "}" for row in rows]
    arff = (ARFF.decode().split("@DATA")[0] + "@DATA\n" + "\n".join(sparse)).encode()
    site.pages["/data/v1/download/5/toy.arff"] = Page(arff)
    description = site.pages["/api/v1/json/data/77"]
    changed = json.loads(description.content)
    changed["data_set_description"] |= {"format": "Sparse_ARFF", "md5_checksum": md5(arff).hexdigest()}
    description.content = json.dumps(changed).encode()
    (cache / "toy_openml77.npz").unlink()
    assert load_dataset(openml).sha == dense.sha


def test_another_openml_data_set_than_expected_is_named_and_not_kept(openml, cache):
    with pytest.raises(DataError, match=r"openml.org/d/77 \(toy, version 1\).* is 12 x 4 x 3, expected 12 x 5 x 3"):
        load_dataset(openml | {"features": 5})
    assert not list(cache.glob("*.npz"))


def test_bytes_that_openml_did_not_state_are_refused(openml, site, cache):
    site.pages["/data/v1/download/5/toy.arff"].content = ARFF.replace(b"10,", b"11,", 1)
    with pytest.raises(DataError, match="md5 checksum"):
        load_dataset(openml)
    assert not list(cache.glob("*.npz"))


def test_openml_out_of_reach_is_an_error_with_its_page_and_the_command(openml, monkeypatch):
    def refuse(*_, **__):
        raise OSError("Network is unreachable")

    monkeypatch.setattr("sklearn.datasets._openml.urlopen", refuse)
    with pytest.raises(DataError, match=r"(?s)openml.org/d/77: .*unreachable.*fetch_data dataset=small"):
        load_dataset(openml)
    own = openml | {"sources": [openml["sources"][0] | {"file": "openml_77.npz"}]}
    with pytest.raises(DataError, match="To make the file: the same command where there is a network"):
        load_dataset(own)


class Silent(Hostile):
    def __init__(self):
        super().__init__(())

    def answer(self, handler):
        handler.rfile.read()  # until the client hangs up


@pytest.mark.parametrize("path", ["/api/v1/json/data/77", "/data/v1/download/5/toy.arff"])
def test_a_silent_openml_is_left_with_a_remedy(openml, site, path, monkeypatch):
    monkeypatch.setattr("ufs_bench.datasets.download.READ_SECONDS", 0.3)
    site.pages[path] = Silent()
    with pytest.raises(DataError, match=r"openml.org/d/77: .*Try again later; .*data=FILE"):
        load_dataset(openml)
