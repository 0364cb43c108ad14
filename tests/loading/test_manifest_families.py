"""The confirmatory data sets: each loads from its raw files as others have loaded it, and is downloaded whole."""

import csv
import functools

import numpy as np
import pytest
import yaml
from small_data import longer_slow
from web_site import Page

from ufs_bench.datasets import DataError, load_dataset, read_spec
from ufs_bench.datasets.check import encode_labels
from ufs_bench.datasets.load import candidates
from ufs_bench.datasets.spec import files_of
from ufs_bench.runners.experiment.sweep import cells_of_words
from ufs_bench.scripts.core.conf import CONF
from ufs_bench.scripts.fetch_data import main

EXPERIMENT = yaml.safe_load((CONF / "experiment" / "fair_confirmatory.yaml").read_text(encoding="utf-8"))
NAMES = EXPERIMENT["datasets"]
# What others have loaded from the same files; where they rounded, ours is compared in single precision.
REFERENCES = {
    "acsf1", "collagen", "eog", "fish", "goolam", "hapmap3", "hmp4", "irspectra", "lightning7", "meat", "mep",
    "methylation", "msrc", "oliveoil", "plane", "pollen", "sc_celseq2_5cl", "swedishleaf", "uji13", "urbanland",
}  # fmt: skip
ROUNDED = {"sc_celseq2_5cl", "eog", "hmp4"}


@pytest.fixture(autouse=True)
def empty_cache(cache):
    return cache


@pytest.fixture(scope="session")
def manifest(data_dir):
    """Return the rows of the list that came with the files, by data set, or skip the test."""
    path = data_dir / "MANIFEST_families.csv"
    if not path.is_file():
        pytest.skip("the folder of data has no MANIFEST_families.csv")
    with open(path, newline="", encoding="utf-8") as file:
        return {row["dataset"]: row for row in csv.DictReader(file)}


@pytest.fixture(scope="session")
def load(data_dir):
    """Return a function that reads a data set once."""

    @functools.cache
    def loaded(name):
        if not list(candidates(read_spec(name), data_dir)):
            pytest.skip("its files are not in the data folder")
        return load_dataset(name, data_dir, download=False)

    return loaded


@pytest.mark.parametrize("name", longer_slow(sorted(REFERENCES)))
def test_samples_and_classes_are_those_that_others_have_loaded(load, reference, name):
    ours, theirs = load(name), reference(f"families/{name}")
    X, kind = theirs["X"].astype(float), np.float32 if name in ROUNDED else float
    if name == "goolam":  # there its first feature is another program's clusters, which are no measurement
        assert set(X[:, 0]) == {2, 3, 4, 5}
        X = X[:, 1:]
    if name == "hapmap3":
        assert np.isnan(X).sum() == 1660
        X = np.where(np.isnan(X), np.nanmedian(X, axis=0), X)
    np.testing.assert_array_equal(ours.X.astype(kind), X.astype(kind))
    np.testing.assert_array_equal(ours.y, encode_labels(name, theirs["y"]))


@pytest.mark.parametrize("name", longer_slow(NAMES))
def test_a_data_set_is_what_the_list_says(load, manifest, name):
    ours, row = load(name), manifest[name]
    counts = "-".join(map(str, sorted(np.bincount(ours.y))))
    assert (ours.n_samples, ours.n_classes, counts) == (
        int(row["n_samples"]),
        int(row["n_classes"]),
        row["class_counts"],
    )
    assert ours.n_features == int(row["n_features"]) - (name == "goolam")
    extremes = [float(row["value_min"]), float(row["value_max"])]
    np.testing.assert_allclose([ours.X.min(), ours.X.max()], extremes, rtol=1e-6)  # some were rounded to 24 bits
    constant = (ours.X.min(axis=0) == ours.X.max(axis=0)).sum()
    assert constant == int(row["has_constant_features"])


def test_the_addresses_are_those_of_the_list(manifest):
    assert set(manifest) == set(NAMES)
    for name, row in manifest.items():
        spec = read_spec(name)
        (source,) = spec["sources"]
        files = {file["file"]: file for file in files_of(source)}
        parts = zip(*(row[key].split(";") for key in ("file", "source_path", "sha256", "bytes")), strict=True)
        for file, path, digest, size in parts:
            assert files[file]["checksum"] == f"sha256:{digest}" and files[file]["bytes"] == int(size)
            repository, commit = row["source_repo"], row["source_commit"]
            assert files[file].get("urls", []) == (
                []
                if "withheld" in spec
                else [
                    f"https://raw.githubusercontent.com/{repository}/{commit}/{path}",
                    f"https://cdn.jsdelivr.net/gh/{repository}@{commit}/{path}",
                ]
            )


def test_every_confirmatory_data_set_says_where_it_is_from_and_on_what_terms():
    for name in NAMES:
        spec = read_spec(name)
        assert "not stated" not in (spec["citation"], spec["origin"], spec["terms"]) and spec["data_sha256"]
    assert [name for name in NAMES if "withheld" in read_spec(name)] == ["warpar10p"]


@pytest.mark.parametrize(
    "name", ["meat", "methylation", "uji13", "irspectra", pytest.param("hmp4", marks=pytest.mark.slow)]
)
def test_a_data_set_of_several_files_is_downloaded_whole(site, empty_cache, data_dir, name):
    spec = read_spec(name)
    (source,) = spec["sources"]
    files = files_of(source)
    if not all((data_dir / file["file"]).is_file() for file in files):
        pytest.skip("its files are not in the data folder")
    for file in files:
        site.pages[f"/{file['file']}"] = Page((data_dir / file["file"]).read_bytes())
        file["urls"] = [site.url(f"/{file['file']}")]
    assert load_dataset(spec).sha == spec["data_sha256"]
    assert {path.name for path in empty_cache.iterdir() if path.name[0] != "."} == {file["file"] for file in files}
    assert load_dataset(spec, download=False).n_samples == spec["samples"]
    damaged = empty_cache / files[-1]["file"]
    damaged.write_bytes(damaged.read_bytes()[:-1])
    assert load_dataset(spec).sha == spec["data_sha256"], "a damaged file of several is fetched again, alone"
    assert [len(site.pages[f"/{file['file']}"].asked) for file in files] == [1] * (len(files) - 1) + [2]


def test_what_may_not_be_passed_on_is_not_offered_and_the_reason_is_said(tmp_path, capsys):
    with pytest.raises(DataError, match="It is not offered for download: who gets the AR face database agrees"):
        load_dataset("warpar10p", tmp_path)
    assert main(["dataset=warpar10p", "list=true"]) == 0
    listed = capsys.readouterr().out
    assert "by hand; it is not offered for download" in listed and "http" not in listed


def test_the_confirmatory_part_is_run_like_the_other():
    parts = ("exploratory", "confirmatory")
    old, new = (cells_of_words(f"experiment=fair_{part}", "method=max_variance") for part in parts)
    assert {(cell.study, str(cell.protocol)) for cell in old} == {(cell.study, str(cell.protocol)) for cell in new}
