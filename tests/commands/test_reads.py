"""A command reads no file of conf/ and no study twice in one process."""

import sys
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest
from frames import PROTOCOL, frames, store

from ufs_bench.runners.store import fits
from ufs_bench.scripts.audit import main as audit
from ufs_bench.scripts.compare.__main__ import main as compare
from ufs_bench.scripts.core import conf, published
from ufs_bench.scripts.make_figure.__main__ import main as make_figure
from ufs_bench.scripts.make_table.__main__ import main as make_table
from ufs_bench.scripts.rank.__main__ import main as rank

POINTS = [
    {
        "dataset": dataset,
        "method": method,
        "acc": {size: [0.3, 0.3 + size / 1000] for size in PROTOCOL["sizes"]},
        "ranking": list(range(300)),
    }
    for dataset in ("umist", "orl", "pie10p", "pix10p", "jaffe", "allaml")
    for method in ("mcfs", "dgufs")
]
STUDY = "study=dgufs"
COMMANDS = {
    "make_table": (make_table, [STUDY]),
    "compare": (compare, ["paper=dgufs", STUDY]),
    "rank": (rank, [STUDY]),
    "audit": (audit, [STUDY, "data_dir={}"]),
    "make_figure": (make_figure, [STUDY, "dataset=umist", "output={}/figure"]),
}


@pytest.fixture
def reads(monkeypatch):
    """Count how often the scripts read each file; Hydra and `load_dataset` read for themselves."""
    found = Counter()
    read_yaml, read_fits, read_csv = conf.yaml.load, fits.read_fits, pd.read_csv

    def count_yaml(file, Loader):
        if Loader is conf._Loader:
            found[file.name] += 1
        return read_yaml(file, Loader)

    def count_fits(path):
        found[path] += 1
        return read_fits(path)

    def count_csv(source, **options):
        found[source] += isinstance(source, Path)
        return read_csv(source, **options)

    for function in (conf._parsed, published.load_published, published._read):
        function.cache_clear()
    monkeypatch.setattr(conf.yaml, "load", count_yaml)
    monkeypatch.setattr(fits, "read_fits", count_fits)
    monkeypatch.setattr(pd, "read_csv", count_csv)
    return found


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_reads_no_file_twice(command, reads, tmp_path, monkeypatch, capsys):
    store(frames(POINTS), tmp_path)
    main, arguments = COMMANDS[command]
    arguments = [argument.format(tmp_path) for argument in arguments]
    monkeypatch.setattr(sys, "argv", [command, f"results_dir={tmp_path}", *arguments])
    main()
    assert capsys.readouterr().out
    counts = Counter(Path(path).suffix for path, count in reads.items() if count)
    assert counts[".jsonl"] == len(POINTS) and counts[".yaml"] > 0
    assert [path for path, count in reads.items() if count > 1] == []
