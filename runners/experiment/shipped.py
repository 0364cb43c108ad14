"""Says how far the fits of a cell are from the shipped ones, which were computed once on another machine."""

import numpy as np

from ufs_bench.metrics.protocol import Protocol
from ufs_bench.metrics.study import UNSCORED
from ufs_bench.runners.store import reference
from ufs_bench.runners.store.differences import differing, distance
from ufs_bench.runners.store.tidy import SET, tidy
from ufs_bench.runners.words import counted

NAMES = ("trial", "is_default")  # a fit may have another key in a study of another name, and other defaults beside it
_compared = []  # the fits of each cell that are the same, and those that are not


def against_shipped(trials, fits):
    """Return a line on the fits of a cell that a shipped study has, too; "" if there are none.

    `fits` are those stored.  Those that were taken from the shipped study, or shipped from here, are left out.
    """
    frame, differ, same = None, [], 0
    for name, keys in _shipped_keys(trials).items():
        if frame is None:
            frame = _sets(tidy([fit for fit in fits if fit["status"] not in UNSCORED]))
        there = reference.read(name, [trials[0].method], lists=True)
        there = _sets(there[there["trial"].isin(list(keys.values()))])
        for key in keys.keys() & frame.keys():
            now, stored = frame[key], there[keys[key]]
            if _is_one_fit(now.iloc[0], stored.iloc[0]):
                continue
            now = now.assign(**{column: stored[column].iloc[0] for column in NAMES})
            if differing(stored, now):
                differ.append(distance(stored, now))
            else:
                same += 1
    if not same + len(differ):
        return ""
    _compared.append((same, len(differ)))
    line = _equal(same, len(differ))
    return f"{line}; {_how_far(differ)}" if differ else line


def in_all():
    """Return the line on the fits of all cells that this process has compared; "" for fewer than two cells."""
    same, other = map(sum, zip(*_compared, strict=True)) if len(_compared) > 1 else (0, 0)
    return f"in all {_equal(same, other)}" if same + other else ""


def _equal(same, other):
    verb = "fit equals" if same + other == 1 else "fits equal"
    return f"{same:,} of {same + other:,} {verb} the shipped results byte for byte"


def _shipped_keys(trials):
    """Return, by shipped study, the keys of the trials that it has with scores -> their keys there."""
    found, left = {}, {trial.key: trial for trial in trials}
    for name in reference.studies_with(trials[0].method, lists=True):
        rows = reference.fits_of(name, trials[0].method).get(trials[0].dataset, [])
        scored = {row["trial"] for row in rows if row["status"] not in UNSCORED}
        protocol = Protocol.from_json(reference.protocol_text(name)).name if scored else ""
        there = {key: trial.key_under(protocol) for key, trial in left.items() if scored}
        if there := {key: other for key, other in there.items() if other in scored}:
            found[name] = there
            left = {key: trial for key, trial in left.items() if key not in there}
    return found


def _sets(frame):
    """Return the rows of each fit, in the order of size and clusterer, by key."""
    return {key: own.sort_values(SET[1:], ignore_index=True) for key, own in frame.groupby("trial")}


def _is_one_fit(now, stored):
    """Return True if two rows come from a single run of a fit; the shipped seconds are rounded to 32 bits."""
    return now["started"] == stored["started"] and np.float32(now["fit_s"]) == np.float32(stored["fit_s"])


def _how_far(differ):
    """Say how far fits are from the shipped ones at most."""
    acc, objective = (max(one[name] for one in differ) for name in ("acc", "objective"))
    kept = min(one["selected"] for one in differ)
    if not np.isfinite(acc):
        return f"{counted(len(differ), 'other')} cannot be compared, as their scores are of other restarts or labels"
    others = "the other differs" if len(differ) == 1 else f"the other {len(differ):,} differ"
    return (
        f"{others} by at most {acc:.1f} points of a mean ACC and {objective:.1g} of the objective, and at least "
        f"{kept:.0%} of the features are the same"
    )
