"""Everything that a study used is named with its source."""

import pytest
from command_line import run
from frames import frames, store

from scripts.cite import sources
from scripts.core.study import Study


@pytest.fixture
def results(tmp_path):
    names = [("umist", "mcfs"), ("umist", "all_features"), ("unheard_of", "mcfs")]
    store(frames([{"dataset": dataset, "method": method, "acc": {50: [0.5]}} for dataset, method in names]), tmp_path)
    return tmp_path


def test_every_source_is_named_once(results):
    found = sources(Study.open(results, "dgufs"))
    assert found["protocol"] == ["dgufs: Guo & Zhu, AAAI 2018"]
    assert found["methods"] == ["mcfs: Cai, Zhang & He, KDD 2010"]
    assert [text.split(":")[0] for text in found["data sets"]] == ["umist", "unheard_of"]
    assert "not in conf/dataset" in found["data sets"][1]
    assert "0123456789abcdef-dirty" in found["suite"][0]


@pytest.mark.parametrize("study, rc, text", [("dgufs", 0, "Guo & Zhu"), ("nothing", 1, "'nothing' has no results")])
def test_the_command_prints_them_or_says_that_nothing_is_there(results, study, rc, text):
    done = run("cite", f"study={study}", f"results_dir={results}")
    assert done.returncode == rc
    assert text in done.stdout + done.stderr
