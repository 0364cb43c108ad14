"""The files of a group of conf/ have the same keys in the same order, no unused ones, and a comment."""

import functools
import inspect
import re
from dataclasses import fields
from itertools import takewhile

import pytest
import yaml

from ufs_bench.datasets import dataset_names, read_spec
from ufs_bench.datasets.joined import FRAMES
from ufs_bench.datasets.loaders import READERS
from ufs_bench.metrics.protocol import Protocol
from ufs_bench.runners.experiment.sweep import cells_of_words
from ufs_bench.runners.papers import PAPERS
from ufs_bench.scripts.core.conf import CONF, ROOT, read

# The keys of a group in their order; those in brackets may be left out.
ORDER = {
    "dataset": "name paper_name citation origin terms [withheld] [family] [same_source_as] "
    "samples features classes [clusters] image data_sha256 sources",
    "method": "name target paper_name citation params grid [repair] [seedless]",
    "protocol": "name sizes [sizes_for] [grid_values] [budget] [coarse] scaling [scaling_for] "
    "restarts seed nmi max_iter [starts] [replicates] [seeds] [clusters]",
    "experiment": "defaults [study] [missing_data] [runner] [protocol] [datasets] [methods]",
    "table": "name title paper published_table metric study protocol rows columns published_as",
}
SOURCE = (
    "[file] format [options] [transposed] [columns] [labels] [label_pattern] [steps] [fill] [checksum] [bytes] "
    "[package] [openml] [per_class] [urls] [files]"
)
FILES = sorted(path for group in ORDER for path in (CONF / group).glob("*.yaml"))


def keys_follow(keys, order):
    """Return True where keys follow an order like ``a [b] c``, in which b may be left out."""
    known = [name.strip("[]") for name in order.split()]
    needed = {name for name in order.split() if not name.startswith("[")}
    return needed <= set(keys) and list(keys) == [name for name in known if name in keys]


def named(path):
    return f"{path.parent.name}/{path.stem}"


@pytest.mark.parametrize("path", FILES, ids=named)
def test_the_keys_are_those_of_the_group_in_its_order(path):
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    order = ORDER[path.parent.name]
    if path.parent.name == "table" and "defaults" in content:  # the other keys come from another table
        order = "defaults name title published_table metric"
    assert keys_follow(content, order), list(content)
    for source in content.get("sources", ()):
        assert keys_follow(source, SOURCE), list(source)


@pytest.mark.parametrize("path", FILES, ids=named)
def test_a_comment_above_the_keys_says_what_it_is(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    if path.parent.name == "experiment":
        assert lines.pop(0) == "# @package _global_"
    comment = list(takewhile(lambda line: line.startswith("#"), lines))
    assert comment and comment[-1].endswith((".", "?")) and max(map(len, comment)) <= 120, comment


@pytest.mark.parametrize("path", [path for path in FILES if path.stem.split("_table")[0] in PAPERS], ids=named)
def test_what_belongs_to_a_paper_names_the_table_or_the_section(path):
    comment = "".join(line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("#"))
    assert any(word in comment for word in ("table", "section")), comment


def test_the_keys_of_a_protocol_are_the_fields_of_protocol():
    assert {name.strip("[]") for name in ORDER["protocol"].split()} == {field.name for field in fields(Protocol)}


@pytest.mark.parametrize("path", sorted((CONF / "dataset").glob("*.yaml")), ids=named)
def test_the_options_of_a_source_are_those_of_its_reader(path):
    for source in yaml.safe_load(path.read_text(encoding="utf-8"))["sources"]:
        known = list(inspect.signature(READERS[source["format"]]).parameters.values())[1:]
        needed = {one.name for one in known if one.default is one.empty and one.kind is not one.VAR_KEYWORD}
        names = {one.name for one in known}
        if source["format"] in FRAMES:
            names |= set(inspect.signature(FRAMES[source["format"]]).parameters)
        assert needed <= set(source.get("options", {})) <= names


def test_fair_runs_one_data_set_of_every_source_as_a_ranking_counts_no_more():
    specs = {name: read_spec(name) for name in dataset_names()}
    sources = {name: spec.get("same_source_as", name) for name, spec in specs.items()}
    run = data_sets_of("fair")
    assert sorted(sources[name] for name in run) == sorted(set(sources.values()))


def test_the_data_sets_of_fair_are_exploratory_or_confirmatory():
    old, new = (read(CONF / f"experiment/fair_{part}.yaml")["datasets"] for part in ("exploratory", "confirmatory"))
    assert sorted(data_sets_of("fair")) == sorted([*old, *new])
    families = [{read_spec(name).get("family", name) for name in names} for names in (old, new)]
    assert len(new) >= 32 and len(families[1] - families[0]) >= 15


@pytest.mark.slow  # the runs of it are done and shipped
def test_half_and_twice_the_clusters_are_run_where_the_plan_says():
    """Data sets of `fair` with fewer than 1,000 samples, and the methods of the hypotheses."""
    small = [name for name in data_sets_of("fair") if read_spec(name)["samples"] < 1000]
    for experiment in ("fair_half", "fair_twice"):
        assert sorted(data_sets_of(experiment)) == sorted(small)
        cells = cells_of_words(f"experiment={experiment}")
        assert {cell.protocol.clusters for cell in cells} == {experiment.removeprefix("fair_")}
        plan = (ROOT / "docs" / "plan.md").read_text()
        named = {cell.method.name for cell in cells} - {"all_features", "random_rankings"}
        written = [read(CONF / "method" / f"{name}.yaml")["paper_name"] for name in named]
        assert all(re.search(rf"\| .*\b{name}\b", plan) for name in written)


@functools.cache
def data_sets_of(experiment):
    return [cell.dataset["name"] for cell in cells_of_words(f"experiment={experiment}", "method=max_variance")]
