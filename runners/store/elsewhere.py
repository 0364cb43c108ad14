"""The trials that a study takes from others of the same user, or from shipped ones if asked."""

from ufs_bench.metrics.protocol import Protocol
from ufs_bench.metrics.study import UNSCORED
from ufs_bench.runners.errors import StoreError
from ufs_bench.runners.store import reference
from ufs_bench.runners.store.fits import cells_of, read_fits
from ufs_bench.runners.store.identity import Identity
from ufs_bench.runners.store.row import Outcome, to_json
from ufs_bench.runners.store.tidy import fit_of


def found_elsewhere(settings, trials, shipped):
    """Return the trials that other studies have, by the study, as (the fit there, the trial).

    A study is the `FILE` of its cell, or the name of a shipped one; these count only if `shipped` is True.  A stored
    trial counts if its scores are of the same code, packages and machine (`Identity`).
    """
    if not trials or not settings.runner.cache or settings.runner.redo:
        return {}
    missing, found, cell = trials, {}, (settings.dataset["name"], settings.method.name)
    here = Identity.of(settings.method.cls)
    places = [path for path in cells_of(settings.results_dir, None, *cell) if path.parent != settings.folder]
    for place in [*places, *(reference.studies_with(cell[1], lists=True) if shipped else [])]:
        try:
            name, scored = _scored_in(place, cell, here)
        except (OSError, ValueError, StoreError):  # not a study, or a damaged one, as its own commands report
            continue
        keys = [trial.key_under(name) if scored else "" for trial in missing]
        if there := [(scored[key], trial) for key, trial in zip(keys, missing, strict=True) if key in scored]:
            found[place] = there
            missing = [trial for key, trial in zip(keys, missing, strict=True) if key not in scored]
    return found


def is_shipped(place):
    """Return True if a place of `found_elsewhere` is a shipped study."""
    return isinstance(place, str)


def name_of(place):
    """Return a place of `found_elsewhere` in words: "shipped study dgufs", "study mine"."""
    return f"shipped study {place}" if is_shipped(place) else f"study {place.parts[-4]}"


def _scored_in(place, cell, here):
    """Return the name of a study's protocol, and the fits of a cell that count, by their keys."""
    if is_shipped(place):
        text, fits = reference.protocol_text(place), reference.fits_of(place, cell[1]).get(cell[0], [])
    else:
        fits = read_fits(place)
        text = fits[0]["protocol"] if fits else ""
    same = [fit for fit in fits if fit["status"] not in UNSCORED and not here.difference(Identity.stored(fit))]
    return Protocol.from_json(text).name if same else "", {fit["trial"]: fit for fit in same}


def outcomes_of(place, found):
    """Return trials stored in another study's cell as outcomes of their own study."""
    whole, outcomes = _whole_fits(place, found) if is_shipped(place) else {}, []
    for fit, trial in found:
        own = {"trial": trial.key, "study": trial.study, "is_default": trial.is_default}
        own["protocol"] = to_json(trial.protocol.stored())
        identity = {name: fit[name] for name in Identity._fields}  # of the code that gives the same, perhaps
        log = f"taken from the {name_of(place)}, where it is {fit['trial']}"
        outcomes.append(Outcome(whole.get(fit["trial"], fit) | identity | own, log=log))
    return outcomes


def _whole_fits(name, found):
    """Return the fits of a shipped study as they are stored in a run's own, by their keys."""
    frame, keys = reference.read(name, [found[0][1].method], lists=True), [fit["trial"] for fit, _ in found]
    return {key: fit_of(rows) for key, rows in frame[frame["trial"].isin(keys)].groupby("trial")}
