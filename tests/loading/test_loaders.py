"""The readers of file formats, on small files that the tests write."""

import gzip
import re
import subprocess
import sys
import zipfile
from io import BytesIO

import h5py
import numpy as np
import pytest
from PIL import Image
from scipy.io import savemat
from scipy.sparse import csc_matrix
from small_data import CODES, X, Y, write_mat

from ufs_bench.datasets import DataError
from ufs_bench.datasets.check import encode_labels
from ufs_bench.datasets.loaders import first_per_class, read_source
from ufs_bench.scripts.core.conf import ROOT

NAMES = {"x": "X", "y": "Y"}


def write_mat_with_a_row_of_labels(path):
    savemat(path, {"X": X.astype(np.uint16), "Y": Y[None].astype(np.uint8)})


def write_sparse_mat(path):
    savemat(path, {"X": csc_matrix(X), "Y": Y[:, None]}, do_compression=True)


def write_h5(path):
    with h5py.File(path, "w") as file:
        for part, rows in (("train", slice(0, 4)), ("test", slice(4, 6))):
            file[f"{part}/data"], file[f"{part}/target"] = X[rows].astype("f4"), Y[rows]


def write_csv_gz(path):
    with gzip.open(path, "wt") as file:
        np.savetxt(file, np.column_stack([X, Y]), delimiter=",", fmt="%d")


def write_npz(path):
    np.savez_compressed(path, X=X, Y=Y)


def write_arff(path):
    """Write a table whose column of labels, which are nominal, is not the last one."""
    columns = [f"@attribute V{number} numeric" for number in range(4)]
    columns.insert(2, "@attribute Class {7, 1, 3}")
    rows = [",".join(map(str, (*x[:2], y, *x[2:]))) for x, y in zip(X, Y, strict=True)]
    path.write_text("\n".join(["@relation small", *columns, "@data", *rows]))


PARTS = {"x": ["train/data", "test/data"], "y": ["train/target", "test/target"]}
FORMATS = [
    ("small.mat", write_mat, {"format": "mat", "options": NAMES}),
    ("small.mat", write_mat_with_a_row_of_labels, {"format": "mat", "options": NAMES}),
    ("small.mat", write_sparse_mat, {"format": "mat", "options": NAMES}),
    ("small.h5", write_h5, {"format": "h5", "options": PARTS}),
    ("small.csv.gz", write_csv_gz, {"format": "csv", "options": {"y": -1, "header": False}}),
    ("small.npz", write_npz, {"format": "npz", "options": NAMES}),
    ("small.arff", write_arff, {"format": "arff", "options": {"y": "Class"}}),
]
every_format = pytest.mark.parametrize(("file", "write", "source"), FORMATS, ids=[row[1].__name__ for row in FORMATS])


@every_format
def test_every_format_gives_the_same_data_set(tmp_path, file, write, source):
    write(tmp_path / file)
    samples, labels, _ = read_source(source, tmp_path / file)
    np.testing.assert_array_equal(samples, X)
    np.testing.assert_array_equal(encode_labels("small", labels), CODES)


@every_format
@pytest.mark.parametrize("damage", ["cut", "text"])
def test_a_damaged_file_of_every_format_is_a_clear_error(tmp_path, file, write, source, damage):
    path = tmp_path / file
    write(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) * 2 // 3] if damage == "cut" else b"<html><body>Not found</body></html>")
    with pytest.raises(DataError, match=re.escape(str(path))):
        read_source(source, path)


def test_the_zip_of_images_is_averaged_in_blocks_in_numerical_order_down_the_columns(tmp_path):
    rng = np.random.default_rng(0)
    images = {
        (label, number): rng.integers(0, 256, (8, 12), dtype=np.uint8) for label in (2, 10) for number in (1, 2, 10)
    }
    with zipfile.ZipFile(tmp_path / "faces.zip", "w") as archive:
        archive.writestr("faces/README", "no image")
        for (label, number), image in reversed(images.items()):
            content = BytesIO()
            Image.fromarray(image).save(content, format="PPM")
            archive.writestr(f"faces/s{label}/{number}.pgm", content.getvalue())
    samples, labels, _ = read_source({"format": "pgm_zip", "options": {"block": 4}}, tmp_path / "faces.zip")
    np.testing.assert_array_equal(labels, [2, 2, 2, 10, 10, 10])
    for sample, pixels in zip(samples, images.values(), strict=True):
        means = [[pixels[4 * i : 4 * i + 4, 4 * j : 4 * j + 4].mean() for j in range(3)] for i in range(2)]
        np.testing.assert_array_equal(sample, np.ravel(means, order="F"))
    with pytest.raises(DataError, match="8 x 12 pixels do not divide"):
        read_source({"format": "pgm_zip", "options": {"block": 5}}, tmp_path / "faces.zip")
    with zipfile.ZipFile(tmp_path / "none.zip", "w") as archive:
        archive.writestr("faces/README", "no image")
    with pytest.raises(DataError, match="no member s<label>"):
        read_source({"format": "pgm_zip", "options": {"block": 4}}, tmp_path / "none.zip")


def test_term_counts_come_back_from_their_weights(tmp_path):
    counts = np.random.default_rng(0).integers(0, 5, (30, 20))
    counts[:, 0] = np.arange(30) % 2  # without a term that occurs once, a row has an unknown scale
    counts[1::2, 1] = 0
    counts[0::2, 1] = 1
    weights = np.where(counts > 0, (1 + np.log(np.maximum(counts, 1))) * np.log(30 / (counts > 0).sum(axis=0)), 0)
    weights /= np.linalg.norm(weights, axis=1, keepdims=True)
    savemat(tmp_path / "w.mat", {"X": csc_matrix(weights), "Y": np.arange(30)})
    source = {"format": "mat_term_counts", "options": NAMES}
    np.testing.assert_array_equal(read_source(source, tmp_path / "w.mat")[0], counts)


def test_the_first_of_each_class_are_kept_in_file_order():
    y = np.array(["b", "a", "b", "a", "b", "c"])
    rows, labels = first_per_class(np.arange(6)[:, None], y[:, None], 2)
    np.testing.assert_array_equal(rows[:, 0], [1, 3, 0, 2, 5])
    assert list(labels) == ["a", "a", "b", "b", "c"]


@pytest.mark.parametrize(
    ("format", "module", "package"), [("h5", "h5py", "h5py"), ("pgm_zip", "PIL", "pillow"), ("rdata", "rdata", "rdata")]
)
def test_a_package_that_a_format_needs_is_named_where_it_is_missing(tmp_path, monkeypatch, format, module, package):
    monkeypatch.setitem(sys.modules, module, None)
    options = {"h5": NAMES, "pgm_zip": {"block": 1}, "rdata": {}}[format]
    with pytest.raises(DataError, match=f"to read {format}, a package is needed: pip install {package}"):
        read_source({"format": format, "options": options}, tmp_path / "file")


def test_no_format_brings_its_package_before_it_is_read():
    code = "import datasets, sys; sys.exit(bool({'h5py', 'PIL', 'pandas', 'sklearn'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0
