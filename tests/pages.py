"""Sentences of the pages, for the tests of the numbers in them."""

import contextlib
import functools
import io
import re

import pandas as pd

from ufs_bench.scripts.core.conf import ROOT
from ufs_bench.scripts.core.papers import load_published
from ufs_bench.scripts.core.text import POINTS

BLOCK = re.compile(r"```python\n(?P<code>.*?)```\n\n```text\n(?P<output>.*?)```", re.DOTALL)
WORDS = "none one two three four five six seven eight nine ten eleven twelve".split()


@functools.cache
def words_of(page):
    """Return the text of a page on one line."""
    return " ".join((ROOT / page).read_text(encoding="utf-8").split())


def says(page, *sentences):
    """Assert that sentences, each with what a test computed in it, are on a page."""
    missing = [sentence for sentence in sentences if " ".join(sentence.split()) not in words_of(page)]
    assert not missing, f"{page} does not say: {missing}"


def prose_of(page):
    """Return the sentences of a page on one line: without what a command prints, code, and where links lead."""
    text = (ROOT / page).read_text(encoding="utf-8")
    text = re.sub(r"<!-- printed by .*?<!-- end -->|```.*?```|<!--.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(r"`[^`]*`", "", re.sub(r"\]\([^)]*\)", "]", text))
    return " ".join(re.sub(r"[][*]", "", text).split())


def says_no_other_number(page, *sentences):
    """Assert that sentences, each with what a test computed in it, are on a page, and all of its numbers in them."""
    rest = prose_of(page)
    missing = [sentence for sentence in sentences if sentence not in rest]
    assert not missing, f"{page} does not say: {missing}"
    for sentence in sentences:
        rest = rest.replace(sentence, "...")
    assert not (found := re.findall(r".{0,60}\d.{0,40}", rest)), f"{page}: nothing computes these numbers: {found}"


def claimed(name, dataset):
    """Return the stored numbers of a claim on a data set, by variant."""
    rows = pd.read_csv(ROOT / "results/published_claims.csv").query("claim == @name and dataset == @dataset")
    stored = rows.set_index("quantity").groupby("variant")["value"]
    return {variant: own.to_dict() for variant, own in stored}


def measured_datasets(paper):
    """Return the data sets of a paper that its row "All Features" was measured on."""
    claims = pd.read_csv(ROOT / "results/published_claims.csv").query(f"claim == '{paper}_metrics'")
    return [name for name in claims["dataset"].unique() if name != "published"]


def printed(paper, dataset, method, what="mean_percent"):
    """Return ACC and NMI that a paper prints of a row, or their stds."""
    rows = load_published().query("paper == @paper and dataset == @dataset and method == @method")
    return rows.set_index("metric")[what].reindex(["acc", "nmi"]).tolist()


def renew(text):
    """Return a page with the present output of each of its blocks."""
    namespace = {"__name__": "notes"}

    def run(match):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(match["code"], "notes", "exec"), namespace)
        return f"```python\n{match['code']}```\n\n```text\n{printed.getvalue()}```"

    return BLOCK.sub(run, text)


def above(table):
    """Return the rows of a table of gains whose interval lies above 0 as it is printed."""
    return list(table.index[table["low"].round(POINTS) > 0])


def below(table):
    """Return the rows whose interval lies below 0 as it is printed."""
    return list(table.index[table["high"].round(POINTS) < 0])
