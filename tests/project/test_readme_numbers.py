"""The numbers in the sentences of the README are those of the suite and of its shipped results."""

import re

from ufs_bench.runners.papers import PAPERS
from ufs_bench.scripts.compare.first import own_first, winners
from ufs_bench.scripts.core.conf import ROOT, names
from ufs_bench.scripts.findings.sizes import one_size_at_a_time, signs_of

TEXT = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())


def numbers(pattern):
    """Return the numbers of the one place of the README that fits a pattern."""
    (found,) = re.findall(pattern, TEXT)
    return [int(text.replace(",", "")) for text in ([found] if isinstance(found, str) else found)]


def test_the_suite_has_as_much_as_the_readme_says():
    fits = sum(int(line.split(",")[1]) for line in (ROOT / "tests/project/golden/keys.csv").read_text().split()[1:])
    assert numbers(r"It has (\d+) methods, variants and controls, (\d+) data sets") == [
        len(names("method")), len(names("dataset")),
    ]  # fmt: skip
    assert numbers(r"results of ([\d,]+) fits") == [fits]
    assert f"({', '.join(PAPERS.values())})" in TEXT


def test_the_words_before_the_first_command_are_no_statistics_and_all_words_are_few():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    most = {text: 750, prose: 450}  # the rest belongs in docs/
    assert all(len(re.findall(r"\S*\w\S*", words)) <= count for words, count in most.items())
    assert len(re.findall(r"\d", text.split("```")[0])) < 20


def test_whose_method_is_first_is_what_compare_prints(comparison):
    found, (first, _) = (
        own_first(comparison)[["printed", "n_printed", "first", "columns", "variant"]].sum(),
        winners(comparison),
    )
    counted = numbers(
        r"first in (\d+) of (\d+) columns\. In our tables it is first in at least (\d+) of (\d+) columns, or in (\d+)"
    )
    assert counted == found.astype(int).tolist()
    assert numbers(r"NDFS of 2012, a baseline of these papers, is first in (\d+)") == [first["ndfs"]]
    assert first.index[0] == "ndfs"


def test_who_gains_is_what_findings_prints(fair, plan):
    gain, lose = (set(plan.named(sign).index.unique("method")) for sign in (1, -1))
    assert (gain, lose) == ({"jgufs", "jelsr", "fssl", "mcfs", "ndfs"}, {"dgufs", "sf2sog"})
    methods = plan.table.index.unique("method")
    assert numbers(r"(\d+) of (\d+) methods cannot be distinguished") == [len(methods) - len(gain | lose), len(methods)]
    largest = plan.named(1)["mean"].max()
    assert f"at most {largest:.1f} points of NMI" in TEXT
    by_size = one_size_at_a_time(fair, plan)
    assert numbers(r"(\d+) methods gain with 10 features, none with 300") == [len(signs_of(by_size[10])[0])]
    assert not signs_of(by_size[300])[0]
