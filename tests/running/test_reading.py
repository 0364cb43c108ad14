"""Cells are read together, and what is unusual about one of them changes nothing for the others."""

import pandas as pd
import pytest
from frames import frames, store

from ufs_bench.runners.store import reading
from ufs_bench.runners.store.files import StoreError
from ufs_bench.runners.store.folder import load_results

METHODS = [f"method{number}" for number in range(8)]
POINTS = [
    {"dataset": dataset, "method": method, "acc": {50: [0.3, 0.4]}, "trace": [3.0, 2.0]}
    for dataset in ("orl", "umist")
    for method in METHODS
]


@pytest.fixture
def stored(tmp_path):
    """Return a folder of results in which one study is stored."""
    store(frames(POINTS), tmp_path)
    return tmp_path


def read(folder, monkeypatch):
    """Return what is read, and how many frames were parsed, which only seconds would show otherwise."""
    parsed, checked = [], reading.checked
    monkeypatch.setattr(reading, "checked", lambda *given: parsed.append(given) or checked(*given))
    return load_results(folder, "dgufs"), len(parsed)


def assert_cells_read_alone_are_the_same(folder):
    alone = [load_results(folder, "dgufs", dataset, method) for dataset in ("orl", "umist") for method in METHODS]
    for one, parts in zip(load_results(folder, "dgufs"), zip(*alone, strict=True), strict=True):
        other = pd.concat([part for part in parts if len(part)] or parts[:1], ignore_index=True)
        assert len(one) == len(other)
        pd.testing.assert_frame_equal(one, other, check_dtype=False)


def test_a_study_is_parsed_in_as_many_frames_as_it_has_data_sets_and_files(stored, monkeypatch):
    found, parsed = read(stored, monkeypatch)
    assert parsed == 2 * 5 and len(found.trials) == len(POINTS)
    assert_cells_read_alone_are_the_same(stored)


@pytest.mark.parametrize("unusual", ("no mark", "a line twice", "no file", "a spreadsheet's"))
def test_an_unusual_cell_is_read_as_it_is_alone(stored, unusual):
    cell = stored / "dgufs" / "orl" / "method7"
    trials, scores = cell / "trials.csv", cell / "scores.csv"
    if unusual == "no mark":
        trials.write_text(trials.read_text().splitlines(keepends=True)[0])
    elif unusual == "a line twice":
        scores.write_text(scores.read_text() + scores.read_text().splitlines(keepends=True)[-1])
    elif unusual == "no file":
        (cell / "facts.csv").unlink()
    else:
        scores.write_bytes(b"\xef\xbb\xbf" + scores.read_bytes().replace(b"\n", b"\r\n"))
    assert_cells_read_alone_are_the_same(stored)


@pytest.mark.parametrize("name, old, new", [("scores", ",0.4,", ",1.4,"), ("trials", "method7", "method8")])
def test_a_damaged_file_among_many_is_named(stored, name, old, new):
    path = stored / "dgufs" / "orl" / "method7" / f"{name}.csv"
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(StoreError, match=rf"orl/method7/{name}\.csv, line [23], column"):
        load_results(stored, "dgufs")


def test_cells_without_labels_are_read_together_too(tmp_path, monkeypatch):
    nan = float("nan")
    store(frames([point | {"acc": {50: [nan, nan]}, "nmi": {50: [nan, nan]}} for point in POINTS]), tmp_path)
    found, parsed = read(tmp_path, monkeypatch)
    assert parsed == 2 * 5 and found.scores["acc"].isna().all()
