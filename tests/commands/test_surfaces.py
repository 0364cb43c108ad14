"""The figures over a grid: the value at every point, and the note on other parameters."""

import numpy as np
import pytest
from frames import study_of
from matplotlib.collections import QuadMesh

from ufs_bench.scripts.core.command_lines import MissingResults
from ufs_bench.scripts.make_figure.surfaces import grid_of, surface, surfaces

ALPHAS, BETAS, SIZES = [1e-2, 1.0, 1e2], [0.1, 1.0], [50, 100]


def score(alpha, beta, size):
    return 0.3 + 0.01 * ALPHAS.index(alpha) * (-1) ** BETAS.index(beta) + size / 1000


POINTS = [
    {
        "dataset": "orl",
        "method": "rufs",
        "params": {"alpha": alpha, "beta": beta, "nu": 10.0, "n_clusters": 40},
        "acc": {size: [score(alpha, beta, size)] * 2 for size in SIZES},
    }
    for alpha in ALPHAS
    for beta in BETAS
]


@pytest.fixture
def study():
    return study_of(POINTS)


@pytest.fixture
def grid(study):
    return grid_of(study.summary, "orl", "rufs")


def test_others_at_their_best_give_the_highest_score_of_every_point(grid):
    panel = surface(grid, "alpha", "acc")
    wanted = [[100 * max(score(alpha, beta, size) for beta in BETAS) for alpha in ALPHAS] for size in SIZES]
    assert panel.values == ALPHAS
    assert panel.sizes == SIZES
    assert panel.scores == pytest.approx(np.array(wanted))


@pytest.mark.parametrize(("others", "beta"), [("default", 1.0), ({"beta": 0.1}, 0.1), ({"beta": 1, "alpha": 7}, 1.0)])
def test_others_at_their_defaults_or_at_given_values(grid, others, beta):
    panel = surface(grid, "alpha", "acc", others, {"alpha": 1.0, "beta": 1.0})
    wanted = [[100 * score(alpha, beta, size) for alpha in ALPHAS] for size in SIZES]
    assert panel.scores == pytest.approx(np.array(wanted))


def test_values_that_are_not_stored_are_refused_with_those_that_are(grid):
    with pytest.raises(MissingResults, match=r"beta=0.5; stored values: beta: \[0.1, 1.0\]"):
        surface(grid, "alpha", "acc", {"beta": 0.5})
    with pytest.raises(MissingResults, match="nu has the one value 10.0.*several values: alpha, beta"):
        surface(grid, "nu", "acc")
    with pytest.raises(ValueError, match="others='worst' must be best, default"):
        surface(grid, "alpha", "acc", "worst")


def test_what_failed_or_was_not_run_is_a_gap():
    failed = {**POINTS[0], "status": "failed", "sizes": SIZES}
    panel = surface(grid_of(study_of([failed, *POINTS[2:]]).summary, "orl", "rufs"), "alpha", "acc", {"beta": 0.1})
    assert np.isnan(panel.scores[:, 0]).all()
    assert np.isfinite(panel.scores[:, 1:]).all()


BAD = {**POINTS[0], "status": "failed", "sizes": SIZES}


def test_a_parameter_that_only_failed_fits_vary_is_not_drawn():
    for changed in ({"nu": -1.0}, {"no_such": 1}):
        study = study_of([*POINTS, {**BAD, "params": {**BAD["params"], **changed}}])
        figure = surfaces(study, "orl", "rufs")
        assert {"α", "β"} <= {axes.get_xlabel() for axes in figure.axes} <= {"α", "β", ""}
        with pytest.raises(ValueError, match="has the one value .*several values: alpha, beta"):
            surfaces(study, "orl", "rufs", parameters=list(changed))


def test_others_at_values_where_every_fit_failed_are_refused():
    study = study_of([*POINTS, {**BAD, "params": {**BAD["params"], "beta": -1.0}}])
    with pytest.raises(MissingResults, match="no point with a score has beta=-1.0"):
        surfaces(study, "orl", "rufs", parameters=["alpha"], others={"beta": -1.0})


def test_a_parameter_that_only_some_trials_set_has_its_default_in_the_others():
    cell = {"dataset": "orl", "method": "mcfs"}
    study = study_of([{**cell, "acc": {50: [0.0]}}, {**cell, "params": {"ridge": 1.0}, "acc": {50: [0.1]}}])
    known = surface(grid_of(study.summary, "orl", "mcfs", defaults={"ridge": 0.0}), "ridge", "acc")
    assert known.values == [0.0, 1.0]
    unknown = surface(grid_of(study.summary, "orl", "mcfs"), "ridge", "acc")
    assert unknown.values == [1.0, "not set"]
    assert unknown.scores == pytest.approx(np.array([[10.0, 0.0]]))
    labels = surfaces(study, "orl", "mcfs").axes[0].get_xticklabels()
    assert [label.get_text() for label in labels] == ["0", "1"]


def test_a_method_without_a_grid_is_not_sent_to_a_command_that_changes_nothing(study):
    single = study_of([{"dataset": "orl", "method": "mcfs", "params": {"ridge": 0.0}, "acc": {50: [0.5]}}])
    with pytest.raises(MissingResults, match="mcfs on orl has scores at one setting of its parameters") as caught:
        surfaces(single, "orl", "mcfs")
    assert not caught.value.cells
    with pytest.raises(ValueError, match="nu has the one value") as caught:
        surfaces(study, "orl", "rufs", parameters="nu")
    assert not isinstance(caught.value, MissingResults)


def test_a_method_that_the_study_lacks_is_answered_with_those_that_it_has(study):
    with pytest.raises(MissingResults, match="method=dgufs on dataset=orl .*methods with scores there: rufs"):
        surfaces(study, "orl", "dgufs")
    with pytest.raises(MissingResults, match="methods with scores there: none"):
        surfaces(study, "umist", "dgufs")


def test_a_value_of_another_slice_is_no_gap():
    # mu0 was varied at rho = 1.05, and rho at mu0 = 0.1, but the default of both was not run.
    pairs = [(1e-3, 1.05), (1.0, 1.05), (0.1, 1.01), (0.1, 1.1)]
    study = study_of([
        {"dataset": "orl", "method": "kmeans_ufs_admm", "params": {"mu0": mu, "rho": rho}, "acc": {50: [0.5, 0.6]}}
        for mu, rho in pairs
    ])  # fmt: skip
    found = grid_of(study.summary, "orl", "kmeans_ufs_admm")
    assert surface(found, "mu0", "acc", "default", {"mu0": 0.1, "rho": 1.05}).values == [1e-3, 1.0]
    wanted = {"mu0": [1e-3, 1.0], "rho": [1.01, 1.1, 10.0]}
    note = surfaces(study, "orl", "kmeans_ufs_admm", others="default", grid=wanted).get_supxlabel()
    assert "Hatched" not in note


def test_every_panel_draws_its_scores_on_the_scale_of_its_metric(study):
    figure = surfaces(study, "orl", "rufs", metric=["acc", "nmi"])
    panels = [axes for axes in figure.axes if axes.get_xlabel()]
    assert [axes.get_xlabel() for axes in panels] == ["α", "β", "α", "β"]
    meshes = [next(child for child in axes.get_children() if isinstance(child, QuadMesh)) for axes in panels]
    assert meshes[0].get_clim() == meshes[1].get_clim() != meshes[2].get_clim()
    texts = [[text.get_text() for text in axes.texts] for axes in panels]
    assert texts[0] == [f"{value:.1f}" for value in np.asarray(meshes[0].get_array()).ravel()]


def test_close_scores_do_not_span_all_colours(study):
    figure = surfaces(study, "orl", "rufs", parameters=["alpha"], others={"beta": 1.0})
    mesh = next(child for child in figure.axes[0].get_children() if isinstance(child, QuadMesh))
    assert np.ptp(mesh.get_clim()) >= 5


@pytest.mark.parametrize(
    ("others", "said"),
    [
        ("best", "Over α: the best β at every point, chosen with the labels."),
        ("default", "Over α: β = 1."),
        ({"beta": 0.1}, "Over α: β = 0.1."),
    ],
)
def test_the_note_says_what_the_others_are_and_how_much_is_stored(study, others, said):
    note = " ".join(surfaces(study, "orl", "rufs", parameters=["alpha"], others=others).get_supxlabel().split())
    assert said in note
    assert "Everywhere: ν = 10." in note
    assert "Incomplete: 6 of 49 grid points, 6 fits" in note


@pytest.mark.parametrize(
    ("metrics", "how"),
    [
        (["acc"], ", chosen with the labels."),
        (["acc", "nmi"], ", chosen with the labels."),
        (["reconstruction"], "."),
        (["reconstruction", "acc"], ", chosen with the labels for ACC."),
    ],
)
def test_the_note_says_which_scores_choose_with_the_labels(metrics, how):
    study = study_of([{**point, "reconstruction": dict.fromkeys(SIZES, 0.5)} for point in POINTS])
    note = " ".join(surfaces(study, "orl", "rufs", ["alpha"], metrics).get_supxlabel().split())
    assert f"the best β at every point{how}" in note


def test_a_narrow_figure_puts_the_panels_on_top_of_each_other(study):
    left = [{axes.get_subplotspec().colspan.start for axes in figure.axes if axes.get_xlabel()} for figure in (
        surfaces(study, "orl", "rufs"), surfaces(study, "orl", "rufs", width=3.4)
    )]  # fmt: skip
    assert left == [{0, 1}, {0}]


def test_nothing_stored_names_the_cell(study):
    with pytest.raises(MissingResults, match="method=rufs on dataset=umist") as caught:
        surfaces(study, "umist", "rufs")
    assert caught.value.cells == [("rufs", "umist")]
    one = study_of(POINTS[:1])
    with pytest.raises(MissingResults, match="at one setting of its parameters only"):
        surfaces(one, "orl", "rufs")
