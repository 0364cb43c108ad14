"""Checks and the search order of data sets, on files that the tests write."""

import re

import numpy as np
import pandas as pd
import pytest
from small_data import CODES, X, Y, spec_of, write_mat

from ufs_bench import datasets
from ufs_bench.datasets import DataError, Dataset, load_dataset, read_spec
from ufs_bench.datasets.check import check_dataset, encode_labels
from ufs_bench.datasets.files import checksum, fault, looks_like
from ufs_bench.datasets.load import at_hand

pytestmark = pytest.mark.usefixtures("cache")  # so that no test sees the user's folders


# ---- the package and its registry


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(DataError, match=r"'pie11p'.*allaml.*pie10p"):
        load_dataset("pie11p")


# ---- checks


def test_a_data_set_is_float64_and_its_hash_depends_on_values_only(mat, tmp_path):
    dataset = load_dataset(spec_of(mat), data_dir=tmp_path)
    assert isinstance(dataset, Dataset)
    np.testing.assert_array_equal(dataset.X, X)
    np.testing.assert_array_equal(dataset.y, CODES)
    assert dataset.X.dtype == np.float64 and dataset.X.flags.c_contiguous
    assert (dataset.n_samples, dataset.n_features, dataset.n_classes) == (6, 4, 3)
    np.savez(tmp_path / "small.npz", X=np.asfortranarray(X.astype(np.uint16)), Y=Y.astype(float))
    assert dataset.sha == load_dataset(spec_of(tmp_path / "small.npz", "npz"), data_dir=tmp_path).sha


@pytest.mark.parametrize(
    ("samples", "labels", "words"),
    [
        (np.where(X == 4, np.nan, X), Y, "not finite, the first (nan) in sample 0, feature 2"),
        (np.where(X == 4, -np.inf, X), Y, "not finite, the first (-inf)"),
        (X[:5], Y[:5], "is 5 x 4 x 3, expected 6 x 4 x 3"),
        (X.T, Y[:4], "is 4 x 6 x 2, expected 6 x 4 x 3"),
        (X, Y[:5], "6 samples have 5 labels"),
        (X, Y + 0.5, "label 3.5 is not a class; 6 labels are no whole numbers. Where there are no classes"),
        (
            X,
            np.where(Y == 7, np.nan, Y),
            "label nan is not a class; 2 labels are no whole numbers. 2 are missing: fill=drop",
        ),
        (X, np.ones(6), "every sample has the label 1"),
        (X, np.minimum(Y, 3), "is 6 x 4 x 2, expected 6 x 4 x 3"),
        (X, 2 * np.eye(6), "labels of shape (6, 6)"),
        (X, np.eye(6)[:, 1:], "sample 0 is in 0 of the 5 classes, not in 1"),
        (X, np.array(["a", None, "b", "a", "b", "c"], dtype=object), "all numbers or all texts; None is no text"),
        (X.astype(str)[:, :1] + "?", Y, "must be real numbers, and 0.0? in sample 0, feature 0 is none"),
        (np.where(X == 4, pd.NA, X), Y, "must be real numbers, and <NA> in sample 0, feature 2 is none"),
        (X.astype("M8[s]"), Y, "must be real numbers, not datetime64"),
        (X + 1j, Y, "must be real numbers, and 1j in sample 0, feature 0 is none"),
        (X.astype(object) + np.complex128(1j), Y, "must be real numbers, and 1j in sample 0, feature 0 is none"),
        ([[1, 2], [3]], [0, 1], "X cannot be made an array"),
        ([[10**400, 2], [3, 4]], [0, 1], "must be real numbers, and 1000"),
        (np.ma.masked_equal(X, 4), Y, "values of X are masked"),
        (X, np.ma.masked_equal(Y, 7), "values of labels are masked"),
        (X, [[3], [1, 1]], "labels cannot be made an array"),
        (X, Y + 2.0**53, f"must be below {2**53}"),
        (X, [str(2**53), str(2**53 + 1), "1", "1", "2", "2"], f"must be below {2**53}"),
        (X[0], Y, "X of shape (4,)"),
        (X, Y + 1j, "labels must be whole numbers or texts"),
        (X, Y.astype("M8[D]"), "labels must be whole numbers or texts"),
    ],
)
def test_wrong_values_are_clear_errors(mat, samples, labels, words):
    with pytest.raises(DataError, match=re.escape(words)):
        check_dataset(spec_of(mat), samples, labels)


def test_other_values_of_the_right_shape_are_told_by_their_hash(mat):
    right = check_dataset(spec_of(mat), X, Y)
    spec = spec_of(mat, data_sha256=right.sha)
    assert check_dataset(spec, X.astype(np.float32), [str(label) for label in Y]).sha == right.sha
    for samples, labels in ((X[::-1], Y[::-1]), (X + 1e-9, Y), (X, np.roll(Y, 1))):
        with pytest.raises(DataError, match="SHA-256 of the loaded values"):
            check_dataset(spec, samples, labels)


@pytest.mark.parametrize(
    "labels",
    [
        [3, 1, 3, 1, 7, 7],
        [3.0, 1, 3, 1, 7, 7],
        list("313177"),
        ["10", "9", "10", "9", "11", "11"],
        ["10E0", "1", "1E1", "1.0", "70", "7E1"],
        list("babacc"),
        ["1_2", "12", "1_2", "12", "2", "2"],
        [2**60 + 1, 2**60, 2**60 + 1, 2**60, 2**60 + 2, 2**60 + 2],
    ],
)
def test_labels_become_codes_in_sorted_order_numbers_as_numbers(labels):
    codes = encode_labels("small", labels)
    np.testing.assert_array_equal(codes, CODES)
    assert codes.dtype == np.int64


def test_a_data_set_cannot_be_written_to(mat):
    dataset = load_dataset(spec_of(mat), data_dir=mat.parent)
    for array in (dataset.X, dataset.y):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    with pytest.raises(AttributeError):
        dataset.name = "other"


@pytest.mark.parametrize(("order", "matlab"), [("row", "C"), ("column", "F")])
def test_features_fold_into_the_image_that_they_came_from(mat, order, matlab):
    image = np.arange(4).reshape(1, 4) if order == "row" else np.arange(4).reshape(4, 1)
    spec = spec_of(mat, image={"height": image.shape[0], "width": image.shape[1], "order": order})
    dataset = load_dataset(spec, data_dir=mat.parent)
    np.testing.assert_array_equal(dataset.image(image.ravel(order=matlab)), image)
    with pytest.raises(DataError, match=re.escape("n_features=4")):
        dataset.image(np.zeros(5))
    with pytest.raises(DataError, match="no image shape"):
        load_dataset(spec_of(mat), data_dir=mat.parent).image(np.zeros(4))


# ---- files


def test_the_git_checksum_is_that_of_git(tmp_path):
    (tmp_path / "hello").write_bytes(b"hello\n")
    assert checksum(tmp_path / "hello", "git-blob") == "ce013625030ba8dba906f756967f9e9ca394464a"


@pytest.mark.parametrize(
    ("content", "meaning"),
    [
        (b"", "empty"),
        (b"  <!DOCTYPE html><html>", "an HTML page"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 3\n", "a git-LFS pointer"),
        (b"404: Not Found", "a text file"),
    ],
)
def test_a_text_file_named_mat_is_called_what_it_is(tmp_path, mat, content, meaning):
    spec = spec_of(mat)
    mat.write_bytes(content)
    assert looks_like(mat).startswith(meaning)
    with pytest.raises(DataError, match=meaning):
        load_dataset(spec, data_dir=tmp_path)


def test_a_truncated_file_is_told_by_its_size(mat):
    spec = spec_of(mat)
    spec["sources"][0]["bytes"] = mat.stat().st_size
    mat.write_bytes(mat.read_bytes()[:200])
    assert f"200 bytes instead of {spec['sources'][0]['bytes']}" in fault(mat, spec["sources"][0])


# ---- the search order


def test_the_argument_goes_before_the_environment_and_that_before_the_cache(tmp_path, monkeypatch):
    places = [tmp_path / place for place in ("mine", "everybody", "cache")]
    for place in places:
        place.mkdir()
        write_mat(place / "small.mat")
    spec = spec_of(places[0] / "small.mat")
    for place in places[1:]:
        (place / "small.mat").write_bytes((places[0] / "small.mat").read_bytes())
    monkeypatch.setenv("UFS_DATA_DIR", str(places[1]))
    found = datasets.load.locate(spec, data_dir=places[0])
    assert (found.paths[0].parent, found.place) == (places[0], "data_dir")
    assert datasets.load.locate(spec).paths[0].parent == places[1]
    (places[1] / "small.mat").unlink()
    assert datasets.load.locate(spec).paths[0].parent == places[2]


def test_a_damaged_file_is_at_hand_and_a_missing_one_is_not(tmp_path):
    assert not at_hand("umist", tmp_path)
    (tmp_path / "umist.mat").write_bytes(b"something else")
    assert at_hand("umist", tmp_path)


def test_without_a_download_what_is_missing_is_an_error_with_address_checksum_and_folder(tmp_path):
    with pytest.raises(DataError) as caught:
        load_dataset("umist", download=False)
    source = read_spec("umist")["sources"][0]
    for words in (*source["urls"], source["checksum"], str(tmp_path / "cache"), "UFS_DATA_DIR"):
        assert words in str(caught.value)


def test_any_of_several_files_will_do(tmp_path):
    write_mat(tmp_path / "small.mat")
    np.savez(tmp_path / "derived.npz", X=X, Y=Y)
    spec = spec_of(tmp_path / "derived.npz", "npz")
    spec["sources"] += spec_of(tmp_path / "small.mat")["sources"]
    first = load_dataset(spec, data_dir=tmp_path)
    (tmp_path / "derived.npz").unlink()
    assert load_dataset(spec, data_dir=tmp_path).sha == first.sha


def test_the_data_sets_that_ship_need_no_folder_and_no_network():
    assert load_dataset("digits", download=False).X.shape == (1797, 64)
    small = load_dataset("mnist500", download=False)
    np.testing.assert_array_equal(np.bincount(small.y), 10 * [50])
