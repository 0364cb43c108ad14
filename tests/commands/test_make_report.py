"""The report page: self-contained, it opens with who is best, and ends with how the fits ended."""

import html as entities
import re

import numpy as np
import pytest
from frames import SIZES, SMALL, change, frames, store
from html_page import Reader

from ufs_bench.metrics.study.families import t_intervals
from ufs_bench.scripts.core.study import Study
from ufs_bench.scripts.make_report import make_report, standings

FAILED = {"dataset": "orl", "method": "mcfs", "status": "failed", "sizes": SIZES}


def report(folder, points):
    store(frames(points), folder)
    return make_report(Study.open(folder, "dgufs", folder / "none"))


def rows_of(text):
    return [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in re.findall(r"<tr>(.*?)</tr>", text, re.DOTALL)]


def test_nothing_comes_from_elsewhere_and_who_is_best_stands_first(html):
    reader = Reader(html)
    assert len(reader.names) == len(set(reader.names)) and not reader.open
    assert all(address.startswith("data:") for address in reader.addresses)
    assert re.findall(r'<section id="(\w+)"', html) == "best datasets figures published fits environment".split()
    first = html.split("<h2>Who is best</h2>")[1].split("<p")[1]
    assert "LapScore has the highest mean gain in ACC on" in first or "over 2 data sets" in first


def test_the_sentence_and_the_intervals_are_those_of_the_gains_over_random_rankings():
    names = "umist coil20 orl".split()
    shift = dict(zip(names, (0.1, 0.2, 0.15), strict=True))
    points = [
        {"dataset": name, "method": "random_rankings", "params": {"draw": 0}, "acc": {50: [0.3]}} for name in names
    ]
    points += [{"dataset": name, "method": "mcfs", "acc": {50: [0.3 + shift[name]]}} for name in names]
    points += [{"dataset": name, "method": "ndfs", "acc": {50: [0.3]}} for name in names[:2]]
    found = standings(Study.of("dgufs", frames(points)), "acc", "best_over_grid")
    mean, low, high = t_intervals(np.array([[10.0], [20.0], [15.0]]))
    best, last = found["rows"]
    assert best["gain"] == f"{mean[0]:+.1f}" and best["interval"] == f"{low[0]:+.1f} to {high[0]:+.1f}"
    assert (best["firsts"], best["n"], last["n"], last["gain"]) == (3, 3, 2, "0.0")
    assert found["sentence"].startswith(
        "MCFS has the highest mean gain in ACC over 3 data sets: +15.0 points over Random"
    )
    assert found["sentence"].endswith("It is first most often: on 3 of 3.") and "includes zero" not in found["sentence"]


def test_every_data_set_has_its_best_two_methods(html):
    rows = {row[0]: row[1:] for row in rows_of(html.split('<section id="datasets">')[1].split("</section>")[0])}
    assert rows["UMIST"][0].startswith("LapScore 45.0 ±") and rows["PIE 10P"][:2] == ["MCFS 32.0 ± 1.4", ""]


def test_a_published_number_stands_above_ours(html):
    rows = rows_of(html.split('<section id="published">')[1].split("</table>")[0])
    place = next(at for at, row in enumerate(rows) if row[0] == "LapScore")
    column = rows[0].index("UMIST")
    assert "45.1" in rows[place][column] and rows[place + 1][0] == "↳ ours" and "45.0" in rows[place + 1][column]


def test_commands_of_a_page_quote_a_folder_with_a_space(tmp_path):
    page = entities.unescape(report(tmp_path / "my results", SMALL))
    lines = [line for line in re.findall("<code>(python -m scripts.+?)</code>", page) if "study=" in line]
    assert lines and all(line.endswith(f" 'results_dir={tmp_path}/my results'") for line in lines)


def test_a_study_of_other_data_is_not_compared_with_the_paper_and_text_from_results_cannot_become_markup(tmp_path):
    store(frames([{"dataset": "wine", "method": "mine", "acc": {5: [0.5, 0.6]}}]), tmp_path)
    change(tmp_path / "dgufs/wine/mine", status="<script>alert(1)</script>")
    page = make_report(Study.open(tmp_path, "dgufs", tmp_path / "none"))
    assert "<script>alert" not in page and "&lt;script&gt;alert" in page and 'id="published"' not in page
    assert (
        "mine has the highest mean gain in ACC on the only data set: 0.0 points over the mean of all methods." in page
    )


def test_an_empty_study_is_refused(tmp_path):
    with pytest.raises(ValueError, match="has no results"):
        make_report(Study.open(tmp_path, "none"))


def test_a_study_on_which_every_fit_failed_still_has_a_report(tmp_path):
    page = report(tmp_path, [FAILED])
    assert "No method has a score yet." in page and "Not drawn: no scores are stored for dataset=orl" in page


def test_what_failed_is_listed_with_its_error_at_the_end(tmp_path):
    store(frames([*SMALL, FAILED]), tmp_path)
    change(tmp_path / "dgufs/orl/mcfs", error="ValueError: no <eigenvalue> converged")
    page = make_report(Study.open(tmp_path, "dgufs", tmp_path))
    section = page.split('<section id="fits">')[1].split("</section>")[0]
    assert "1 failed" in section and "1 without scores" in section
    assert "MCFS on ORL" in section and "ValueError: no &lt;eigenvalue&gt; converged" in section
