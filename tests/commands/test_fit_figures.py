"""Convergence curves and selected pixels: the right fit, the right pixels, and a reason where there are none."""

from dataclasses import replace

import numpy as np
import pytest
from frames import PROTOCOL, study_of
from matplotlib.colors import to_rgb

from ufs_bench.datasets import load_dataset
from ufs_bench.scripts.core.command_lines import MissingResults
from ufs_bench.scripts.make_figure.convergence import convergence
from ufs_bench.scripts.make_figure.pixels import SELECTED, pixels

RUFS, DGUFS = ({"dataset": "umist", "method": method} for method in ("rufs", "dgufs"))
TRACES = [
    {**RUFS, "acc": {50: [0.3], 100: [0.4]}, "trace": [9.0, 5.0, 4.0]},
    {**RUFS, "params": {"alpha": 5.0}, "acc": {50: [0.9], 100: [0.2]}, "trace": [8.0, 7.0]},
    {**DGUFS, "acc": {50: [0.3]}, "trace": [1.0, -1.0], "status": "collapsed"},
    {**DGUFS, "params": {"h": 1}, "is_default": True, "acc": {100: [0.3]}, "trace": [3.0, 2.0]},
    {"dataset": "umist", "method": "mcfs", "acc": {50: [0.3], 100: [0.1]}},
]


@pytest.fixture
def study():
    return study_of(TRACES)


def curves(figure):
    return [axes.lines[0].get_ydata().tolist() for axes in figure.axes if axes.get_visible()]


def test_the_curve_is_the_trace_of_the_default_fit_or_of_the_best(study):
    assert curves(convergence(study, "umist", ["rufs"])) == [[9, 5, 4]]
    assert curves(convergence(study, "umist", ["rufs"], selection="best_over_grid")) == [[8, 7]]


def test_a_size_names_the_fit_where_every_size_has_its_own(study):
    assert curves(convergence(study, "umist", ["dgufs"], size=50)) == [[1, -1]]
    assert curves(convergence(study, "umist", ["dgufs"], size=100)) == [[3, 2]]


def test_every_method_with_sweeps_has_a_panel_with_its_outcome(study):
    figure = convergence(study, "umist", size=50)
    titles = [axes.get_title(loc="left") for axes in figure.axes if axes.get_visible()]
    assert titles == ["DGUFS, UMIST\ncollapsed, 1 sweep", "RUFS, UMIST\nconverged after 2 sweeps"]


def test_a_closed_form_and_a_median_have_no_curve(study):
    with pytest.raises(ValueError, match="mcfs has no sweeps on umist: it is a closed form"):
        convergence(study, "umist", ["mcfs"])
    with pytest.raises(ValueError, match="grid_median is no fit"):
        convergence(study, "umist", ["rufs"], selection="grid_median")


def test_methods_without_iterations_are_named_and_not_asked_for_again():
    study = study_of([TRACES[-1], {"dataset": "umist", "method": "rufs", "status": "failed", "sizes": [50]}])
    words = "to draw: mcfs, rufs. They are closed forms, .* failed, or were shipped without"
    with pytest.raises(ValueError, match=words) as caught:
        convergence(study, "umist")
    assert "methods=[" not in str(caught.value)


def test_what_has_no_fit_is_named(study):
    with pytest.raises(MissingResults, match="method=rufs on dataset=orl") as caught:
        convergence(study, ["umist", "orl"], ["rufs"])
    assert caught.value.cells == [("rufs", "orl")]
    with pytest.raises(MissingResults, match="with 70 features"):
        convergence(study, "umist", ["rufs"], size=70)
    with pytest.raises(MissingResults, match="nothing is stored on dataset=orl.*methods="):
        convergence(study, "orl")


# scikit-learn's digits, 8 x 8 by rows, need no file.
DIGITS = [
    {"dataset": "digits", "method": "mcfs", "acc": {2: [0.3], 3: [0.4]}, "ranking": [9, 20, 63]},
    {"dataset": "digits", "method": "dgufs", "acc": {2: [0.3]}, "ranking": {"2": [0, 1]}},
    {"dataset": "digits", "method": "all_features", "acc": {64: [0.3]}, "ranking": list(range(64))},
]
TINY = {**PROTOCOL, "name": "demo", "sizes": [2, 3], "scaling": "none", "restarts": 1}


def digits_study(sha=None):
    sha = load_dataset("digits").sha if sha is None else sha
    return study_of([{**point, "data_sha": sha} for point in DIGITS], protocol=TINY)


def marked(axes):
    """Return the places of the coloured pixels of an image."""
    image = axes.get_images()[0].get_array()
    return {tuple(map(int, place)) for place in np.argwhere(np.all(image == to_rgb(SELECTED), axis=2))}


def test_the_marked_pixels_are_the_selected_ones_at_every_size():
    figure = pixels(digits_study(), "digits", ["mcfs"], samples=[0, 5])
    plain, two, three = figure.axes[:3]
    assert [axes.get_title() for axes in (plain, two, three)] == ["m =", "2", "3"]
    assert marked(plain) == set()
    assert marked(two) == {(1, 1), (2, 4)}
    assert marked(three) == {(1, 1), (2, 4), (7, 7)}
    assert len(figure.axes) == 6
    data = load_dataset("digits")
    for axes, sample in ((figure.axes[0], 0), (figure.axes[3], 5)):
        drawn = np.asarray(axes.get_images()[0].get_array())[:, :, 0]
        assert drawn * data.X[sample].max() == pytest.approx(data.image(data.X[sample]))


def test_pixels_of_images_by_columns_lie_where_the_image_has_them(data_dir):
    data = load_dataset("umist", data_dir=data_dir)
    point = {"dataset": "umist", "method": "mcfs", "acc": {50: [0.3]}, "ranking": list(range(50)), "data_sha": data.sha}
    figure = pixels(study_of([point], data_dir=data_dir), "umist")
    # 28 pixels high: the first 50 features are the first column and 22 pixels of the second.
    assert marked(figure.axes[1]) == {(row, 0) for row in range(28)} | {(row, 1) for row in range(22)}


def test_by_default_every_method_that_selects_has_a_row_and_sizes_of_its_own():
    figure = pixels(digits_study(), "digits")
    assert len(figure.axes) == 2 * 3
    assert marked(figure.axes[1]) == {(0, 0), (0, 1)}
    assert not figure.axes[2].get_images()


def test_two_samples_of_two_classes_are_shown_of_one_method_and_the_middle_one_without_labels(monkeypatch):
    data = load_dataset("digits")
    note = pixels(digits_study(), "digits", ["mcfs"]).get_supxlabel()
    first, second = (int(text) for text in note.split("Samples ")[1].split(" of")[0].split(", "))
    assert data.y[[first, second]].tolist() == [0, 1]
    unlabelled = replace(data, y=None, clusters=10), ""
    monkeypatch.setattr("ufs_bench.scripts.core.refits.data_of", lambda *_: unlabelled)
    assert "Sample 898 of the data." in pixels(digits_study(), "digits", ["mcfs"]).get_supxlabel().replace("\n", " ")


def test_other_data_no_images_and_no_such_sample_are_refused(tmp_path):
    with pytest.raises(ValueError, match="not those of the stored trials"):
        pixels(digits_study(sha="0" * 64), "digits")
    with pytest.raises(ValueError, match=r"samples=\[1797\] must be in \[0, n_samples=1797\)"):
        pixels(digits_study(), "digits", samples=[1797])
    with pytest.raises(ValueError, match="grid_median is not a feature set"):
        pixels(digits_study(), "digits", ["mcfs"], selection="grid_median")
    with pytest.raises(MissingResults, match="method=rufs on dataset=digits"):
        pixels(digits_study(), "digits", ["rufs"])


def test_features_that_are_no_pixels_are_refused(data_dir):
    data = load_dataset("allaml", data_dir=data_dir)
    point = {
        "dataset": "allaml",
        "method": "mcfs",
        "acc": {50: [0.3]},
        "ranking": list(range(50)),
        "data_sha": data.sha,
    }
    with pytest.raises(ValueError, match="dataset=allaml has no pixels to draw"):
        pixels(study_of([point], data_dir), "allaml")
