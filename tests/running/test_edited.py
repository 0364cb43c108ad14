"""Tables of a cell that another program has saved again, unchanged or with a row changed."""

import pandas as pd
import pytest
from frames import done, frames, load_all, store

from ufs_bench.runners.store.files import StoreError, read_rows
from ufs_bench.runners.store.folder import Store, load_results


def as_saved_elsewhere(data, how):
    """Return the bytes of a CSV as another program saves the same table."""
    return {
        "a mark of the byte order": b"\xef\xbb\xbf" + data,
        "ends of lines of Windows": data.replace(b"\n", b"\r\n"),
        "both": b"\xef\xbb\xbf" + data.replace(b"\n", b"\r\n"),
        "ends of lines of old Macs": data.replace(b"\n", b"\r"),
        "empty lines": data.replace(b"\n", b"\n\n"),
    }[how]


@pytest.mark.parametrize(
    "how", ["a mark of the byte order", "ends of lines of Windows", "both", "ends of lines of old Macs", "empty lines"]
)
def test_a_table_that_another_program_saved_is_the_same_to_reports_and_to_the_resume(tmp_path, how):
    points = [{"dataset": "d", "method": "m", "params": {"a": i}, "acc": {50: [0.2]}, "trace": [1.0]} for i in (1, 2)]
    store(frames(points, study="s"), tmp_path)
    expected, paths = load_all(tmp_path), sorted((tmp_path / "s/d/m").glob("*.csv"))
    with Store(tmp_path / "s/d/m"):
        before = [path.read_bytes() for path in paths]
    for path, data in zip(paths, before, strict=True):
        path.write_bytes(as_saved_elsewhere(data, how))
    for found, wanted in zip(load_all(tmp_path), expected, strict=True):
        pd.testing.assert_frame_equal(found, wanted)
    assert [row["trial"] for row in read_rows(paths[-1])] == expected.trials["trial"].tolist()
    with Store(tmp_path / "s/d/m") as opened:
        assert done(opened) == set(expected.trials["trial"])
    assert [path.read_bytes() for path in paths] == before


@pytest.mark.parametrize("file, column", [("trials", name) for name in ("study", "dataset", "method")] + [
    ("scores", "dataset"), ("scores", "method")])  # fmt: skip
def test_a_row_of_another_cell_is_named_by_line_column_value_and_remedy(tmp_path, file, column):
    points = [{"dataset": "d,1", "method": "m", "params": {"a": i}, "acc": {50: [0.2]}} for i in (1, 2)]
    store(frames(points, study="s"), tmp_path)
    cell = tmp_path / "s/d,1/m"
    with Store(cell) as opened:
        assert len(done(opened)) == 2
    table = pd.read_csv(cell / f"{file}.csv", dtype=str, keep_default_na=False)
    table.loc[1, column] = "other"
    table.to_csv(cell / f"{file}.csv", index=False)
    folder = {"study": "s", "dataset": "d,1", "method": "m"}[column]
    words = f"{file}.csv, line 3, column {column}: 'other' must be '{folder}', as the folder is called. Restore"
    with pytest.raises(StoreError, match=words), Store(cell):
        pass
    with pytest.raises(StoreError, match=words):
        load_all(tmp_path)


def test_a_study_or_data_set_whose_folder_is_a_link_is_gone_on_with(tmp_path):
    store(frames([{"dataset": "d", "method": "m", "acc": {50: [0.2]}}], study="s"), tmp_path)
    for folder, place in ((tmp_path / "s/d", tmp_path / "data"), (tmp_path / "s", tmp_path / "large")):
        folder.rename(place)
        folder.symlink_to(place)
        with Store(tmp_path / "s/d/m") as opened:
            assert len(done(opened)) == 1


def test_a_study_that_was_renamed_is_read_and_not_gone_on_with(tmp_path):
    store(frames([{"dataset": "d", "method": "m", "acc": {50: [0.2]}}], study="s"), tmp_path)
    (tmp_path / "s").rename(tmp_path / "t")
    assert load_results(tmp_path, "t").trials["study"].tolist() == ["s"]
    with (
        pytest.raises(StoreError, match="column study: 's' must be 't'.*give it its name back"),
        Store(tmp_path / "t/d/m"),
    ):
        pass
