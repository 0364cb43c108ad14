"""Everything that a study used is named with its source."""

import re

import pytest
from frames import frames, store

from ufs_bench.scripts.cite import address_of, paper_of, sources
from ufs_bench.scripts.core.conf import read_group
from ufs_bench.scripts.core.study import Study


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
def test_the_command_prints_them_or_says_that_nothing_is_there(results, command, study, rc, text):
    done = command("cite", f"study={study}", f"results_dir={results}")
    assert done.returncode == rc
    assert text in done.stdout + done.stderr


def test_bibtex_has_an_entry_for_the_suite_each_paper_and_each_other_source(results, command):
    text = command("cite", "study=dgufs", f"results_dir={results}", "format=bibtex").stdout
    entries = text.strip().split("\n\n")
    assert [entry.split("{")[0] for entry in entries] == ["@software", *["@inproceedings"] * 2, "@misc"]
    mcfs = next(entry for entry in entries if entry.startswith("@inproceedings{mcfs,"))
    assert "title = {Unsupervised feature selection for multi-cluster data}," in mcfs and "year = {2010}," in mcfs
    assert text.count("{") == text.count("}") and " & " not in text


def test_every_paper_of_a_method_has_a_title_and_the_year_of_its_citation():
    cited = {part for method in read_group("method").values() for part in method["citation"].split("; ") if part}
    assert len(cited) > 30
    for part in cited:
        entry, year = paper_of(part), re.findall(r"\d{4}", part)[-1]
        assert "  title = {" in entry and f"  year = {{{year}}}," in entry and entry.count("{") == entry.count("}"), (
            part
        )
        first = re.match(r"[\w-]+", part)[0]
        assert first in re.search(r"author = (.*)", entry)[1].replace("{\\i}", "i"), part
    assert address_of("Cai, Zhang & He, KDD 2010") == "https://doi.org/10.1145/1835804.1835848"
    assert address_of("nobody, nowhere") is None
