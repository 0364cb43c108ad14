"""The figures of scores and the command line: what they draw, where it is written, that it repeats."""

import inspect
from pathlib import Path

import numpy as np
import pytest
from frames import SIZES, frames, store, study_of
from PIL import Image

from ufs_bench.scripts.core.command_lines import MissingResults
from ufs_bench.scripts.core.conf import ROOT
from ufs_bench.scripts.core.entry import defaults
from ufs_bench.scripts.make_figure import FIGURES, save
from ufs_bench.scripts.make_figure.curves import acc_vs_seconds, acc_vs_size
from ufs_bench.scripts.make_figure.options import file_name
from ufs_bench.scripts.make_figure.style import number, symbol

POINTS = [
    {"dataset": "umist", "method": "all_features", "acc": {644: [0.40, 0.44]}},
    {"dataset": "umist", "method": "mcfs", "acc": {size: [0.3, 0.3 + size / 1000] for size in SIZES}},
    {"dataset": "umist", "method": "mcfs", "params": {"ridge": 1}, "acc": {size: [0.4, 0.4] for size in SIZES}},
    {"dataset": "umist", "method": "dgufs", "acc": {50: [0.2, 0.3]}, "learned": {50: 0.55}},
    {"dataset": "umist", "method": "dgufs", "status": "failed", "sizes": [100]},
    {"dataset": "orl", "method": "max_variance", "acc": {50: [0.2, 0.3]}},
]


@pytest.fixture
def study():
    return study_of(POINTS)


def named(figure):
    """Return the lines of a figure that have a name; the others are marks."""
    return [line for line in figure.axes[0].lines if not line.get_label().startswith("_")]


def drawn(figure):
    """Return the heights of each line by its label."""
    return {line.get_label(): line.get_ydata() for line in named(figure)}


def test_every_method_is_a_line_at_its_best_point_of_every_size(study):
    figure = acc_vs_size(study, "umist")
    lines = drawn(figure)
    mcfs, everything, dgufs = sorted(lines.values(), key=len, reverse=True)
    assert mcfs == pytest.approx([max(30 + size / 20, 40) for size in SIZES])
    assert dgufs == pytest.approx([25])
    assert everything == pytest.approx([42, 42])
    assert len(lines) == 3


def test_default_params_draw_the_default_point(study):
    lines = drawn(acc_vs_size(study, "umist", selection="default_params"))
    assert [30 + size / 20 for size in SIZES] in [pytest.approx(line) for line in lines.values()]


def test_bands_are_one_std_over_restarts_either_side(study):
    axes = acc_vs_size(study, "umist", selection="default_params", methods=["mcfs"]).axes[0]
    band = axes.collections[0].get_paths()[0].vertices
    for size in SIZES:
        heights = band[band[:, 0] == size, 1]
        std = np.std([30, 30 + size / 10], ddof=1)
        assert (heights.max(), heights.min()) == pytest.approx((30 + size / 20 + std, 30 + size / 20 - std))


def test_learned_labels_have_no_band(study):
    figure = acc_vs_size(study, "umist", clusterer="learned", metric="nmi")
    (line,) = drawn(figure).values()
    assert line == pytest.approx([27.5])
    assert not figure.axes[0].collections


def test_what_is_not_stored_is_named(study):
    for draw in (acc_vs_size, acc_vs_seconds):
        with pytest.raises(MissingResults, match="dataset=pie10p, .*data sets of this study: orl, umist") as caught:
            draw(study, "pie10p", methods=["mcfs"])
        assert caught.value.cells == [("mcfs", "pie10p")]
        with pytest.raises(MissingResults, match="no scores are stored for dataset=umist"):
            draw(study, "umist", methods=["ndfs"])
    alone = study_of([{"dataset": "umist", "method": "all_features", "acc": {40: [0.40, 0.44]}}])
    with pytest.raises(MissingResults, match="nothing but all features has scores on umist"):
        acc_vs_size(alone, "umist")


def test_a_method_that_is_asked_for_and_not_drawn_is_named_below():
    points = [*SECONDS, {"dataset": "umist", "method": "rsr", "acc": {100: [0.3, 0.5]}}]
    asked = {"methods": ["rsr", "ndfs", "mcfs"]}
    for draw in (acc_vs_size, acc_vs_seconds):
        assert draw(study_of(points), "umist", **asked).get_supxlabel().endswith("No scores: NDFS.\nIncomplete: MCFS.")
        assert "No scores" not in draw(study_of(points), "umist").get_supxlabel()


def test_the_same_results_give_the_same_bytes(study, tmp_path):
    first, second = (save(acc_vs_size(study, "umist"), tmp_path / name / "figure.svg") for name in ("a", "b"))
    assert [file.read_bytes() for file in first] == [file.read_bytes() for file in second]
    assert [file.suffix for file in first] == [".png", ".pdf", ".svg"]


def test_many_lines_have_no_bands_and_the_note_says_nothing_of_them():
    points = [{"dataset": "umist", "method": f"m{i}", "acc": {50: [0.1 * i, 0.2]}} for i in range(9)]
    figure = acc_vs_size(study_of(points), "umist")
    assert not figure.axes[0].collections
    assert "std" not in figure.get_supxlabel()


SECONDS = [
    {"dataset": "umist", "method": "all_features", "acc": {644: [0.40, 0.44]}, "fit_s": 0.001},
    {"dataset": "umist", "method": "mcfs", "acc": {100: [0.3, 0.5]}, "fit_s": 2.0},
    {"dataset": "umist", "method": "mcfs", "params": {"ridge": 1}, "acc": {100: [0.6, 0.8]}, "fit_s": 8.0},
    {"dataset": "umist", "method": "mcfs", "params": {"ridge": 2}, "status": "failed", "sizes": [100], "fit_s": 5.0},
]


@pytest.mark.parametrize(
    ("selection", "seconds", "score"),
    [("best_over_grid", 15.0, 70), ("default_params", 2.0, 40), ("grid_median", 5.0, 55)],
)
def test_a_score_stands_at_the_seconds_that_it_cost(selection, seconds, score):
    axes = acc_vs_seconds(study_of(SECONDS), "umist", selection=selection).axes[0]
    points = [line.get_xydata()[0] for line in axes.lines if line.get_marker() == "o"]
    assert points == [pytest.approx((seconds, score))]
    (reference,) = [line for line in axes.lines if line.get_linestyle() == "--"]
    assert reference.get_ydata() == pytest.approx([42, 42])


def test_parameters_and_values_are_printed_as_in_the_papers():
    assert [symbol(name) for name in ("alpha", "lambda_", "mu0", "n_neighbors")] == ["α", "λ", "μ₀", "n_neighbors"]
    assert [number(value) for value in (1e-6, 1e4, 0.1, 1.0, 100.0, 1.0001, 3, 0)] == [
        "10⁻⁶", "10⁴", "0.1", "1", "100", "1.0001", "3", "0"
    ]  # fmt: skip


def test_file_names_say_what_departs_from_the_figures_own_file():
    size = {"figure": "acc_vs_size"}
    plain = {"dataset": ["umist"], "metric": "acc", "clusterer": "kmeans", "selection": "best_over_grid"}
    assert file_name(size, plain) == "acc_vs_size_umist"
    other = {"dataset": ["umist"], "metric": "nmi", "clusterer": "learned", "selection": "grid_median"}
    assert file_name(size, other) == "acc_vs_size_umist_nmi_learned_grid_median"
    surface = {"method": ["rufs"], "dataset": ["orl"], "metric": ["nmi"], "others": {"alpha": 1.0}}
    assert file_name({"figure": "surface"}, surface) == "surface_rufs_orl_nmi_alpha1"


def test_a_papers_figure_is_named_by_itself_and_by_what_is_changed():
    options = defaults("make_figure", "rufs_fig1")
    own = {name: options[name] for name in ("method", "dataset", "metric", "others", "clusterer")}
    assert own["dataset"] == "binary_alphadigits"
    assert file_name(options, own | {"dataset": ["binary_alphadigits"]}) == "rufs_fig1"
    assert file_name(options, {**own, "dataset": ["orl"], "others": "default"}) == "rufs_fig1_orl_default"


@pytest.fixture
def run(command):
    return lambda results, *arguments: command("make_figure", *arguments, f"results_dir={results}", "study=dgufs")


def test_command_line_draws_a_file_for_each_data_set(tmp_path, run):
    store(frames(POINTS), tmp_path)
    before = set(ROOT.iterdir())
    done = [run(tmp_path, "figure=acc_vs_size", f"dataset={name}") for name in ("umist", "orl")]
    assert [one.returncode for one in done] == [0, 0], done
    files = [Path(line) for one in done for line in one.stdout.split()]
    folder = tmp_path / "dgufs" / "figures"
    assert files == [folder / f"acc_vs_size_{name}.{suffix}" for name in ("umist", "orl") for suffix in ("png", "pdf")]
    assert all(file.stat().st_size > 5000 for file in files)
    assert np.asarray(Image.open(files[0]).convert("L")).std() > 5
    assert set(ROOT.iterdir()) == before


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("figure=pie", "figure='pie' is no file of conf/figure. Did you mean pixels?"),
        ("dataset=[umist,orl]", "dataset=umist,orl must be one name here: give one command for each"),
    ],
)
def test_command_line_explains_a_wrong_choice(tmp_path, argument, message, run):
    done = run(tmp_path, argument)
    assert done.returncode != 0
    assert message in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["figure=rufs_fig1"], "run.py protocol=dgufs protocol.restarts=2 method=rufs dataset=binary_alphadigits"),
        (["figure=kmeans_ufs_fig3"], "+method.grid.rho=[1.0001,1.01,1.1,10.0,100.0]"),
    ],
)
def test_command_line_names_the_command_that_fills_a_gap(tmp_path, arguments, message, run):
    store(frames(POINTS), tmp_path)
    done = run(tmp_path, *arguments)
    assert done.returncode != 0
    assert message in done.stderr
    assert "Traceback" not in done.stderr


PRESETS = sorted(path.stem for path in (ROOT / "conf" / "figure").glob("*.yaml"))


@pytest.mark.parametrize("preset", PRESETS)
def test_every_file_of_a_figure_says_what_its_function_takes(preset):
    settings = defaults("make_figure", preset)
    accepted = inspect.signature(FIGURES[settings["draw"]]).parameters
    common = set(defaults("make_figure", "acc_vs_size"))
    assert not set(settings) - set(accepted) - common - {"grid"}
    datasets = settings["dataset"] or []
    for name in [datasets] if isinstance(datasets, str) else datasets:
        assert (ROOT / "conf" / "dataset" / f"{name}.yaml").exists()
