"""Recovery of known features, against counts of all cases."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ufs_bench.metrics.recovery import precision_recall, redundancy


@st.composite
def problems(draw):
    """Return a ranking of all features, relevant ones, and disjoint groups."""
    n_features = draw(st.integers(2, 12))
    ranking = draw(st.permutations(range(n_features)))
    relevant = draw(st.lists(st.integers(0, n_features - 1), min_size=1, unique=True))
    places = draw(st.lists(st.integers(0, 5), min_size=n_features, max_size=n_features))
    groups = [np.flatnonzero(np.equal(places, place)) for place in range(1, 5)]  # those of 0 and 5 are in no group
    return ranking, relevant, [group for group in groups if group.size]


def targets_of(relevant, groups):
    """Return the sets of features of which one has to be found."""
    grouped = [set(group.tolist()) for group in groups]
    alone = [{feature} for feature in relevant if not any(feature in group for group in grouped)]
    return [group for group in grouped if group & set(relevant)] + alone


@settings(deadline=None)
@given(problems())
def test_precision_recall_and_redundancy_are_those_that_sets_give(problem):
    ranking, relevant, groups = problem
    targets = targets_of(relevant, groups)
    for size in range(1, len(ranking) + 1):
        chosen = set(ranking[:size])
        precision, recall = precision_recall(ranking, relevant, size, groups)
        assert precision == pytest.approx(len(chosen & set().union(*targets)) / size)
        assert recall == pytest.approx(sum(bool(chosen & target) for target in targets) / len(targets))
        repeats = sum(max(0, len(chosen & set(group.tolist())) - 1) for group in groups)
        assert redundancy(ranking[:size], groups) == pytest.approx(repeats / size)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: precision_recall([1, 2], [1], 3), r"size=3 must be in \[1, 2\]"),
        (lambda: precision_recall([1, 2], [1], 0), r"size=0 must be in \[1, 2\]"),
        (lambda: precision_recall([1, 2, 1], [1], 1), "ranking has 1 2 times"),
        (lambda: precision_recall([1, 2], [], 1), r"relevant=\[\] must be a list of one or more features"),
        (lambda: precision_recall([0.5, 2], [1], 1), "must be a list of one or more features"),
        (lambda: precision_recall([-1, 2], [1], 1), "whole numbers from 0 on"),
        (lambda: redundancy([1, 2], [[1, 2], [2, 3]]), r"groups\[0\] and groups\[1\] both have 2"),
    ],
)
def test_what_is_no_ranking_or_group_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
