"""Tables in several files, with samples in columns, and with labels in files of their own."""

import re
import zipfile

import numpy as np
import pandas as pd
import pytest

from ufs_bench.datasets import DataError
from ufs_bench.datasets.check import encode_labels
from ufs_bench.datasets.loaders import READERS, read_source
from ufs_bench.datasets.spec import SOURCE

X = np.array([[1.5, -2, 3], [4, 5, 6], [7, 8, 9], [0, 1, 2]])
KINDS = ["b", "a", "b", "c"]


def write(folder, **texts):
    for name, text in texts.items():
        (folder / f"{name}.csv").write_text(text)
    return [folder / f"{name}.csv" for name in texts]


def read(paths, label_paths=(), **given):
    """Read files of samples and of labels; what no source has is an option of the reader."""
    source = {"options": {}} | {name: given.pop(name) for name in SOURCE & given.keys()}
    source["options"] = source["options"] | given
    if label_paths:
        source["labels"] = {"files": [{"file": path.name} for path in label_paths], **source["labels"]}
    return read_source({"format": "csv", **source}, [*paths, *label_paths])


def refused(words, *files, **given):
    """Check the error of files that cannot be read so."""
    with pytest.raises(DataError, match=words):
        read(*files, **given)


def test_files_of_other_features_are_an_error_unless_the_common_ones_are_wanted(tmp_path):
    paths = write(tmp_path, a="p,q,r,kind\n1.5,-2,3,b\n", b="kind,r,new,q\nb,9,1,8\n", c="p,r,q,kind\n1,2,3,a\n")
    refused("b.csv has other columns than .*a.csv: 2 are in one only .new, p.. columns=common", paths[:2], y="kind")
    refused("their order differs", paths[::2], y="kind")
    samples, labels, names = read(paths[:2], y="kind", columns="common")
    assert names == ["q", "r"]
    assert samples.tolist() == [[-2, 3], [8, 9]] and labels.tolist() == ["b", "b"]
    twice = write(tmp_path, d="p,q,kind\n1,2,a\n", e=",s,s2\np,1,2\nkind,a,b\np,3,4\n")
    refused("has two columns 'p'", twice, y="kind", names=0, header=True, columns="common", transposed=True)


def test_the_rows_of_a_transposed_table_are_features(tmp_path):
    text = "gene,s1,s2,s3,s4\nkind,b,a,b,c\nplate,1,1,2,2\ng1,1.5,4,7,0\ng2,-2,5,8,1\ng3,3,6,9,2\n"
    options = {"y": "kind", "ignore": ["plate"], "names": 0}
    samples, labels, names = read(write(tmp_path, t=text), options=options, transposed=True)
    assert names == ["g1", "g2", "g3"]
    *_, names = read(write(tmp_path, t=text), options=options, transposed=True, steps=[{"present": 1}])
    assert names == ["g3"]  # above 0 in all samples
    np.testing.assert_array_equal(samples, X)
    assert labels.tolist() == KINDS
    nameless = write(tmp_path, n="5,6,7\n1,1,3\n0,1,0\n")  # the first row is the label
    samples, labels, names = read(nameless, y=0, transposed=True)
    assert names == ["row 1", "row 2"]
    assert samples.tolist() == [[1, 0], [1, 1], [3, 0]] and labels.tolist() == [5, 6, 7]
    bare = write(tmp_path, bare="g1,1.5,4,7,0\ng2,-2,5,8,1\ng3,3,6,9,2\n")
    refused("first column has texts: say that they name the features, names=0", bare, transposed=True)
    samples, *_ = read(bare, names=0, header=False, transposed=True)
    np.testing.assert_array_equal(samples, X)


def test_a_first_line_that_is_a_name_short_is_that_of_row_names(tmp_path):
    (path,) = write(tmp_path, r='"p","q","kind"\n"one",1,2,"a"\n"two",3,4,"b"\n')
    samples, labels, _ = read([path], y="kind", names=0)
    assert samples.tolist() == [[1, 2], [3, 4]] and labels.tolist() == ["a", "b"]
    (path,) = write(tmp_path, numbered="p q kind\n1 1 2 a\n2 3 4 b\n")
    assert read([path], y="kind")[0].tolist() == [[1, 2], [3, 4]]
    (path,) = write(tmp_path, ended="p,q,kind\n1,1,2,\n2,3,4,\n")  # or a delimiter at the end of the other lines
    refused("the last of which is empty. Take the ',' from their ends", [path], y="kind")


TABLE = "id,p,q,r\ns1,1.5,-2,3\ns2,4,5,6\ns3,7,8,9\ns4,0,1,2\n"


def test_labels_of_another_file_are_joined_by_the_names_of_samples(tmp_path):
    samples, labels = write(tmp_path, t=TABLE, y="sample,kind,age\ns4,c,1\ns2,a,2\ns5,z,3\ns1,b,4\ns3,b,5\n")
    found = read([samples], [labels], names="id", labels={"key": "sample", "y": "kind"})
    np.testing.assert_array_equal(found[0], X)
    assert found[1].tolist() == KINDS
    both = read([samples], [labels], names="id", labels={"key": "sample", "y": ["kind", "age"]})
    assert both[1].tolist() == ["b/4", "a/2", "b/5", "c/1"]


def test_numbers_that_name_samples_are_joined_however_they_are_written(tmp_path):
    samples, labels = write(tmp_path, t="id,p,q\n10,1,2\n11,3,4\n", y="id\tkind\n11\tb\n10.0\ta\n")
    found = read([samples], [labels], names="id", labels={"key": "id"})
    assert found[1].tolist() == ["a", "b"]


def test_labels_without_a_key_are_in_the_order_of_the_samples(tmp_path):
    samples, labels, short = write(tmp_path, t="1.5,-2,3\n4,5,6\n7,8,9\n0,1,2\n", y="b\na\nb\nc\n", z="b\na\nb\n")
    found = read([samples], [labels], labels={})
    np.testing.assert_array_equal(found[0], X)
    assert found[1].tolist() == KINDS
    refused("t.csv: 4 samples have 3 labels in files of their own: they must be as many", [samples], [short], labels={})
    halves = write(tmp_path, c="1.5,-2,3\n4,5,6\n", d="7,8,9\n0,1,2\n", u="b\na\nb\n", v="c\n")
    for files in ([labels], halves[2:]):
        assert read(halves[:2], files, labels={})[1].tolist() == KINDS
    npz = tmp_path / "t.npz"
    np.savez(npz, X=X)
    found = read_source({"format": "npz", "labels": {"files": [{"file": "y.csv"}]}}, [npz, labels])
    assert encode_labels("t", found[1]).tolist() == [1, 0, 1, 2]


def test_names_of_samples_that_float64_does_not_tell_apart_are_refused(tmp_path):
    table = f"id,p\n{2**53},1.5\n{2**53 + 1},2\n3,1\n"  # the second has no label, and had that of the first
    samples, labels = write(tmp_path, t=table, y=f"sample,kind\n{2**53},a\n3,b\n")
    refused(f"must be below {2**53}", [samples], [labels], names="id", labels={"key": "sample", "y": "kind"})


def test_a_sample_without_a_label_is_an_error_or_dropped(tmp_path):
    samples, labels = write(tmp_path, t=TABLE, y="sample,kind\ns4,c\ns1,b\n")
    source = {"options": {"names": "id"}, "labels": {"key": "sample", "y": "kind"}}
    refused("2 of 4 samples have no label, the first being 's2'.*others=drop", [samples], [labels], **source)
    source["labels"]["others"] = "drop"
    found = read([samples], [labels], **source)
    np.testing.assert_array_equal(found[0], X[[0, 3]])
    assert found[1].tolist() == ["b", "c"]
    refused("no sample has a label", [samples], [labels], names="p", labels=source["labels"])


def test_only_the_labelled_columns_of_a_wide_table_are_read(tmp_path):
    samples, labels = write(tmp_path, t="gene,s1,s2,s3\ng1,1,x,3\ng2,4,y,6\n", y="sample,kind\ns3,c\ns1,b\n")
    source = {"options": {"names": 0}, "labels": {"key": "sample", "y": "kind", "others": "drop"}, "transposed": True}
    found = read([samples], [labels], **source)
    assert found[0].tolist() == [[1, 4], [3, 6]] and found[1].tolist() == ["b", "c"]


def test_as_many_files_of_labels_as_of_samples_belong_to_each_other(tmp_path):
    """Samples of two plates have the same names; one file of labels for all would mix them up."""
    paths = write(
        tmp_path, a="id,p\ns1,1\ns2,2\n", b="id,p\ns1,3\ns2,4\n", u="id,kind\ns1,x\ns2,y\n", v="id,kind\ns1,y\ns2,z\n"
    )
    source = {"options": {"names": 0}, "labels": {"key": "id", "y": "kind"}}
    samples, labels, _ = read(paths[:2], paths[2:], **source)
    assert samples.ravel().tolist() == [1, 2, 3, 4] and labels.tolist() == ["x", "y", "y", "z"]
    refused("v.csv: sample 's1' has two labels, 'x' and 'y'", paths[:1], paths[2:], **source)
    several = write(tmp_path, c="id,p\ns1,1\ns2,2\ns3,3\n", w="id,kind\ns1,x\ns2,y\n", q="id,kind\ns3,y\ns2,y\n")
    assert read(several[:1], several[1:], **source)[1].tolist() == ["x", "y", "y"]


@pytest.mark.parametrize("own", [{"key": "id", "y": "kind"}, {"key": "id"}])
def test_labels_that_the_table_has_as_well_never_become_a_feature(tmp_path, own):
    samples, labels = write(tmp_path, t="id,p,kind\ns1,1.5,0.5\ns2,4,1\n", y="id,kind\ns1,0.5\ns2,1\n")
    refused(
        "t.csv has the labels 'kind' of labels= itself.* or say ignore=kind",
        [samples],
        [labels],
        names="id",
        labels=own,
    )
    found = read([samples], [labels], names="id", ignore=["kind"], labels=own)
    assert found[0].tolist() == [[1.5], [4]] and found[1].tolist() == [0.5, 1]
    (other,) = write(tmp_path, w="id,kind\ns1,0.5\ns1,2\ns2,1\n")
    refused("sample 's1' has two labels, '0.5' and '2'", [samples], [other], names="id", labels=own)


def test_texts_become_a_feature_for_each_value_in_all_files(tmp_path):
    paths = write(tmp_path, a="colour,p,kind\nred,1,u\nblue,2,v\n", b="colour,p,kind\ngreen,3,u\n,4,v\n")
    samples, _, names = read(paths, y="kind", onehot=["colour"])
    assert names == ["colour=blue", "colour=green", "colour=red", "p"]
    hole = 3 * [np.nan]
    np.testing.assert_array_equal(samples, [[0, 0, 1, 1], [1, 0, 0, 2], [0, 1, 0, 3], [*hole, 4]])
    np.testing.assert_array_equal(read(paths, y="kind", onehot=True)[0], samples)
    refused(r"colour must be numeric; 1 of 2 features are not.*onehot=", paths, y="kind")
    path = tmp_path / "c.arff"
    path.write_text(
        "@relation r\n@attribute shape {1, 2}\n@attribute a real\n@attribute k {u, v}\n@data\n2,5,u\n?,6,v\n"
    )
    samples, labels, _ = read_source({"format": "arff", "options": {"y": "k", "onehot": ["shape"]}}, path)
    np.testing.assert_array_equal(samples, [[1, 5], [np.nan, 6]])
    assert labels.tolist() == ["u", "v"]


def test_texts_that_all_differ_are_no_features_unless_they_are_named(tmp_path):
    lines = [f"w{number},{number % 3},{'uv'[number % 2]}" for number in range(12)]
    (path,) = write(tmp_path, t="\n".join(["id,p,kind", *lines]))
    refused(r"id: hardly a text occurs twice, .* Say ignore=\[id\], or onehot=", [path], y="kind", onehot=True)
    assert read([path], y="kind", onehot=["id"])[0].shape == (12, 13)


def test_rows_that_are_no_samples_are_left_out(tmp_path):
    (path,) = write(tmp_path, t="kind,p\nd,c\nclass,\na,1\nb,2\n")
    samples, labels, _ = read([path], y="kind", header=True, ignore_rows=[0, 1])
    assert samples.tolist() == [[1], [2]] and labels.tolist() == ["a", "b"]
    refused("has no row 9; it has 4, counted from 0 below the names", [path], y="kind", header=True, ignore_rows=[9])


def test_words_for_missing_values_and_blanks_behind_labels(tmp_path):
    (path,) = write(tmp_path, t="p,q,kind\n1,unknown,a \n-,4,b\n5,6,a\n")
    samples, labels, _ = read([path], y="kind", missing=["unknown", "-"])
    np.testing.assert_array_equal(samples, [[1, np.nan], [np.nan, 4], [5, 6]])
    assert labels.tolist() == ["a", "b", "a"]


def test_a_label_may_be_a_part_of_a_text(tmp_path):
    (path,) = write(tmp_path, t="p,kind\n1,liver_17\n2,lung_4\n")
    assert read([path], y="kind", label_pattern=r"(\w+)_\d+")[1].tolist() == ["liver", "lung"]
    refused(
        re.escape("label 'liver_17' does not match label_pattern='(lung).*'"),
        [path],
        y="kind",
        label_pattern="(lung).*",
    )
    (path,) = write(tmp_path, n="p,kind\n1,31\n2,45\n")
    assert read([path], y="kind", label_pattern=r"(\d)\d")[1].tolist() == ["3", "4"]


def test_the_one_file_in_a_zip_is_read(tmp_path):
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive:
        archive.writestr("t.csv", "p,kind\n1,a\n2,b\n")
        archive.writestr("__MACOSX/._t.csv", "no table")
    assert READERS["csv"](tmp_path / "t.zip", "kind")[0].tolist() == [[1], [2]]
    with zipfile.ZipFile(tmp_path / "t.zip", "a") as archive:
        archive.writestr("u.csv", "p,kind\n")
    with pytest.raises(DataError, match="holds 2 files .t.csv, u.csv.: unpack it"):
        READERS["csv"](tmp_path / "t.zip", "kind")


def test_names_of_a_sheet_of_excel_may_be_numbers(tmp_path):
    pytest.importorskip("openpyxl")
    pd.DataFrame(X, columns=[400, "q", 404.5]).assign(kind=KINDS).to_excel(tmp_path / "n.xlsx", index=False)
    samples, labels, names = read_source({"format": "xlsx", "options": {"y": "kind"}}, tmp_path / "n.xlsx")
    np.testing.assert_array_equal(samples, X)
    assert labels.tolist() == KINDS and names == ["400", "q", "404.5"]


def test_numbers_in_a_table_are_those_that_python_reads(tmp_path):
    values = np.random.default_rng(0).normal(size=200) * 10.0 ** np.arange(-100, 100)
    (path,) = write(tmp_path, t="p,q\n" + "\n".join(f"{value!r},{value:.17g}" for value in map(float, values)))
    np.testing.assert_array_equal(read([path])[0], np.column_stack([values, values]))


def test_arrays_in_several_files_must_have_as_many_features(tmp_path):
    for name, part in (("a", X[:2]), ("b", X[2:]), ("c", X[:, :2])):
        np.savez(tmp_path / f"{name}.npz", X=part, y=np.arange(len(part)))
    source = {"format": "npz", "options": {"x": "X", "y": "y"}}
    samples, labels, _ = read_source(source, [tmp_path / "a.npz", tmp_path / "b.npz"])
    np.testing.assert_array_equal(samples, X)
    assert labels.tolist() == [0, 1, 0, 1]
    with pytest.raises(DataError, match="have .2, 3. features; they must have the same"):
        read_source(source, [tmp_path / "a.npz", tmp_path / "c.npz"])
    with pytest.raises(DataError, match="features and samples of npz have no names"):
        read_source(source | {"columns": "common"}, [tmp_path / "a.npz", tmp_path / "b.npz"])
