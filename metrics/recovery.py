"""Recovery of features that are known to be relevant, as those of made-up data are.

Interchangeable features form a *group*: copies of one another, say.  What can be found is a *target*: a group with a
relevant member, which is found with the first of its members, and every relevant feature that is in no group.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np


def precision_recall(ranking: Sequence, relevant: Sequence, size: int, groups: Sequence = ()) -> tuple[float, float]:
    """Return precision and recall of the first features of a ranking.

    Parameters
    ----------
    ranking : array-like of shape (m,) of int
        Distinct features, best first; all of them, or the first m.
    relevant : array-like of int
        One or more distinct features.
    size : int
        In [1, m].
    groups : sequence of array-like of int, optional
        Groups of interchangeable features; no feature is in two.

    Returns
    -------
    precision : float
        Share of the first `size` features that belong to a target.  A second member of a group counts, too:
        `redundancy` is about those.
    recall : float
        Share of the targets that are found.

    Raises
    ------
    ValueError
    """
    if not 1 <= size <= len(ranking):
        raise ValueError(f"size={size} must be in [1, {len(ranking)}], the number of features in the ranking.")
    belongs, first, n_targets = _hits(ranking, relevant, groups)
    return float(belongs[:size].mean()), float(first[:size].sum() / n_targets)


def redundancy(features: Sequence, groups: Sequence) -> float:
    """Return the share of selected features that repeat a group which another selected feature stands for already.

    Parameters
    ----------
    features : array-like of int
        One or more distinct features, in any order.
    groups : sequence of array-like of int
        Groups of interchangeable features; no feature is in two.

    Returns
    -------
    float
        sum_g max(0, members of g that are selected - 1) / number of features; in [0, 1).

    Raises
    ------
    ValueError
    """
    features, owner = _distinct("features", features), _owners(groups)
    taken = [owner[feature] for feature in features if feature in owner]
    return (len(taken) - len(set(taken))) / len(features)


def _hits(ranking, relevant, groups):
    """Return which features belong to a target, which are the first of theirs, and the number of targets."""
    ranking, relevant, owner = _distinct("ranking", ranking), _distinct("relevant", relevant), _owners(groups)
    # A feature in no group stands for itself.
    targets = {owner.get(feature, (feature,)) for feature in relevant}
    names = [owner.get(feature, (feature,)) for feature in ranking]
    found, belongs, first = set(), [], []
    for name in names:
        belongs.append(name in targets)
        first.append(name in targets and name not in found)
        found.add(name)
    return np.array(belongs), np.array(first), len(targets)


def _owners(groups):
    """Return feature -> number of its group."""
    owner = {}
    for number, group in enumerate(groups):
        for feature in _distinct(f"groups[{number}]", group):
            if feature in owner:
                raise ValueError(f"groups[{owner[feature]}] and groups[{number}] both have {feature}: join them.")
            owner[feature] = number
    return owner


def _distinct(name, features):
    """Return features as a list, after a check."""
    features = np.asarray(features)
    if features.ndim != 1 or not features.size or features.dtype.kind not in "iu" or features.min() < 0:
        raise ValueError(f"{name}={features} must be a list of one or more features, whole numbers from 0 on.")
    found = features.tolist()
    if len(set(found)) < len(found):
        most, count = Counter(sorted(found)).most_common(1)[0]
        raise ValueError(f"{name} has {most} {count} times: give distinct features.")
    return found
