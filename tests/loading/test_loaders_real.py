"""The real files: every one loads from every source, and K-means on all features gives the scores of the handbook."""

import csv

import numpy as np
import pytest
from small_data import longer_slow

from ufs_bench.datasets import dataset_names, load_dataset, read_spec, scale
from ufs_bench.datasets.check import check_dataset
from ufs_bench.datasets.load import candidates
from ufs_bench.datasets.loaders import read_source
from ufs_bench.datasets.spec import files_of
from ufs_bench.metrics.clustering import acc_nmi
from ufs_bench.metrics.kmeans import kmeans_restarts

# protocols.md, last paragraph: mean ACC and NMI (geometric) in percent, K-means from 20 random starts, min-max scaled.
ALL_FEATURES = {
    "allaml": (67.8, 8.8),
    "prostate_ge": (58.3, 2.2),
    "pix10p": (70.4, 83.0),
    "pie10p": (28.7, 30.4),
    "umist": (42.1, 64.1),
    "orl": (51.9, 74.3),
    "coil20": (57.1, 75.1),
    "binary_alphadigits": (41.2, 57.3),
    "isolet": (58.1, 75.5),
    "webkb4": (64.6, 38.7),
    "webkb": (56.8, 9.8),
    "jaffe": (72.4, 84.8),
    "usps": (64.4, 61.5),
    "mnist": (51.3, 47.9),
    "att": (61.4, 82.6),
    "fashion": (51.9, 52.1),
    "micromass": (50.5, 63.7),
}
QUICK = {"umist", "orl", "binary_alphadigits"}  # every data set is held to its digest above


@pytest.fixture(autouse=True)
def empty_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("UFS_CACHE_DIR", str(tmp_path))


def test_every_file_of_the_folder_is_a_source_of_some_data_set(data_dir):
    files = {
        file["file"] for name in dataset_names() for source in read_spec(name)["sources"] for file in files_of(source)
    }
    assert {path.name for path in data_dir.iterdir()} - {"MANIFEST.csv", "MANIFEST_families.csv"} <= files


@pytest.mark.parametrize("name", longer_slow(dataset_names()))
def test_every_route_to_a_data_set_gives_its_values(data_dir, name):
    spec = read_spec(name)
    found = list(candidates(spec, data_dir))
    if not found:
        pytest.skip("its file is not in the data folder")
    assert spec["data_sha256"] is not None, "set it: python -m scripts.fetch_data dataset=prints it"
    for route in found:
        assert route.fault is None
        assert check_dataset(spec, *read_source(route.source, list(route.paths) or None)).sha == spec["data_sha256"]


def test_the_images_that_ship_are_those_of_the_whole_set(data_dir):
    small, whole = load_dataset("mnist500", data_dir), load_dataset("mnist", data_dir)
    np.testing.assert_array_equal(small.X[50:100], whole.X[whole.y == 1][:50])


def test_the_specifications_agree_with_the_manifest(data_dir):
    names = {source.get("file"): name for name in dataset_names() for source in read_spec(name)["sources"]}
    names |= {"mnist5k.csv.gz": "mnist", "webkb4.mat": "webkb4"}
    with open(data_dir / "MANIFEST.csv", newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["file"] != "att_faces.zip"]
    assert rows
    for row in rows:
        dataset = load_dataset(names[row["file"]], data_dir, download=False)
        fewest, _, most = row["class_counts"].partition("-")
        counts = np.bincount(dataset.y)
        found = (dataset.n_samples, dataset.n_features, dataset.n_classes, counts.min(), counts.max())
        assert found == (*(int(row[key]) for key in ("n_samples", "n_features", "n_classes")), int(fewest), int(most))
        np.testing.assert_allclose(
            [dataset.X.min(), dataset.X.max()], [float(row["value_min"]), float(row["value_max"])]
        )
        assert (dataset.X.min(axis=0) == dataset.X.max(axis=0)).sum() == int(row["has_constant_features"])
        image = dataset.image_shape and tuple(map(str, dataset.image_shape))
        assert (image or ("", "")) == (row["image_height"], row["image_width"])
        if image:
            assert ("COLUMN-major" in row["notes"]) == (dataset.pixel_order == "column")


@pytest.mark.parametrize("name", [name for name in dataset_names() if read_spec(name)["image"]])
def test_neighbouring_pixels_of_the_folded_images_are_more_alike_than_in_the_other_order(data_dir, name):
    if not list(candidates(read_spec(name), data_dir)):
        pytest.skip("its file is not in the data folder")
    dataset = load_dataset(name, data_dir, download=False)
    height, width = dataset.image_shape
    if height == width:
        # Transposed images are as smooth: the order of faces and objects was checked by eye.
        other = np.random.default_rng(0).permutation(dataset.n_features)
    else:
        other = np.arange(dataset.n_features).reshape(height, width).ravel(order="F")
        other = np.argsort(other) if dataset.pixel_order == "row" else other

    def roughness(order):
        images = [dataset.image(sample[order]) for sample in dataset.X[:20]]
        return sum(np.abs(np.diff(image, axis=axis)).mean() for image in images for axis in (0, 1))

    assert roughness(np.arange(dataset.n_features)) < 0.8 * roughness(other)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in ALL_FEATURES]
)
def test_all_features_give_the_published_protocols_figures(data_dir, name):
    """Means over 20 starts agree within three standard errors of their difference.

    Both means come from 20 starts of their own, so that the standard error of their difference is sqrt(2 / 20) of the
    standard deviation over starts; 0.05 is the rounding of the expected figures.
    """
    dataset = load_dataset(name, data_dir, download=False)
    labels = kmeans_restarts(scale(dataset.X, "minmax"), dataset.n_classes, n_restarts=20, seed=0)
    for expected, values in zip(ALL_FEATURES[name], acc_nmi(dataset.y, labels), strict=True):
        percent = 100 * np.asarray(values)
        assert abs(percent.mean() - expected) <= 3 * percent.std(ddof=1) * np.sqrt(2 / 20) + 0.05
