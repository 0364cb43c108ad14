"""Fits methods with a random part again, with other seeds: ``python -m scripts.seeds --help``."""

import logging

from ufs_bench.metrics.kmeans import load_engine
from ufs_bench.metrics.study import FAILED, is_learned
from ufs_bench.runners.experiment.trial import has_random_part, stored_trial
from ufs_bench.runners.progress import Progress
from ufs_bench.runners.store.identity import Identity
from ufs_bench.runners.store.row import feature_set_digest
from ufs_bench.runners.words import counted
from ufs_bench.runners.workers.data import Data
from ufs_bench.runners.workers.pool import Scores
from ufs_bench.scripts.core.conf import find, rows_of
from ufs_bench.scripts.core.data import data_of
from ufs_bench.scripts.core.entry import command
from ufs_bench.scripts.core.programs import refuse
from ufs_bench.scripts.core.refits import SEEDS, Point, missing, read, refit_seeds
from ufs_bench.scripts.core.study import Study
from ufs_bench.scripts.core.words import REFITTED

log = logging.getLogger(__name__)


def fit_seeds(study, methods=None, datasets=None, n_seeds=5, n_jobs=1):
    """Fit the default and the chosen points of a study again, with other seeds of their methods.

    Returns sentences on what could not be done, and why.  The data must be on this machine; nothing is downloaded.
    Methods and data sets are all that the study has by default; `n_seeds` includes the seed of the stored trials.  A
    ValueError says that nothing is stored under that name, or that the study mixes protocols, has seeds of its own, or
    lacks a method or data set.
    """
    study.filled()
    if own := study.protocol.get("seeds"):
        raise ValueError(
            f"study={study.name} has protocol.seeds={own}: run.py fits them all; for more, raise it under a study=NAME "
            "of its own."
        )
    trials = rows_of(study.trials, methods, datasets)
    classes = {method: (find("method", method) or {}).get("target") for method in trials["method"].unique()}
    problems = [
        f"{method}: no file of conf/method names its class, so that it cannot be fitted again."
        for method, target in classes.items()
        if target is None
    ]
    random = [method for method, target in classes.items() if target and has_random_part(find("method", method))]
    if fixed := sorted(method for method, target in classes.items() if target and method not in random):
        log.info("No random part, and so no seeds: %s.", ", ".join(fixed))
    points, lost = _points(study, trials[trials["method"].isin(random)], classes)
    return [*problems, *lost, *(_fit_all(study, points, n_seeds, n_jobs) if points else [])]


def _points(study, trials, classes):
    """Return the points of every cell, by (data set, method), and the cells that cannot be fitted again."""
    wanted = {}
    for metric in ("acc", "nmi"):
        for selection in REFITTED:
            chosen = study.select(metric, selection)
            for cell in chosen[chosen["trial"].isin(trials["trial"])].to_dict("records"):
                wanted.setdefault(cell["trial"], set()).add((int(cell["n_selected"]), cell["clusterer"]))
    sets = dict(list(study.whole[study.whole["trial"].isin(list(wanted))].groupby("trial")))
    points, lost = {}, []
    for row in trials[trials["trial"].isin(list(wanted))].to_dict("records"):
        trial = stored_trial(row, classes[row["method"]])
        if trial is None:
            lost.append(f"{row['method']} on {row['dataset']}: its file in conf/method is not that of the trials.")
            continue
        stored = list(_stored(sets[row["trial"]], wanted[row["trial"]], trial.protocol.seed))
        points.setdefault((row["dataset"], row["method"]), []).append(Point(trial, stored))
    return points, list(dict.fromkeys(lost))


def _stored(sets, wanted, seed):
    """Return the stored scores of a trial as rows of ``seeds.csv``, with learned labels, which cost nothing more."""
    for row in sets.to_dict("records"):
        size, clusterer = row["n_selected"], row["clusterer"]
        if (size, clusterer) in wanted or is_learned(row):
            digest = "" if is_learned(row) else feature_set_digest(row["features"])
            where = (row["trial"], row["dataset"], row["method"], size, clusterer, seed)
            scores = row["acc_mean"], row["nmi_mean"]
            yield (*where, row["status"], *scores, digest, row["git_sha"], Identity.stored(row).name)


def _fit_all(study, points, n_seeds, n_jobs):
    """Run the fits that are not stored, data set by data set; return what could not be done."""
    folder = study.folder
    counts = {cell: len(missing(own, read(folder.joinpath(*cell, SEEDS)), n_seeds)) for cell, own in points.items()}
    log.info("%s to do, in %s.", counted(sum(counts.values()), "fit"), counted(len(counts), "cell"))
    errors = []
    for own in points.values():
        here = Identity.of(own[0].trial.cls).name
        if others := sum(point.stored[0][-1] != here for point in own):
            log.info(
                "%s on %s: %s of other code or packages: run the cell again first, or tables leave its seeds out.",
                own[0].trial.method, own[0].trial.dataset, counted(others, "trial"),
            )  # fmt: skip
    progress = Progress(sum(counts.values()), noun="fit")

    def note(error):
        if error:
            errors.append(f"{method} on {dataset}: {error}")
            progress.say(f"  failed: {errors[-1]}")
        progress.step(1, {FAILED: len(errors)})

    try:
        for dataset in dict.fromkeys(dataset for dataset, _ in points):
            cells = {method: own for (name, method), own in points.items() if name == dataset}
            data, reason = data_of(study.trials[study.trials["dataset"] == dataset], study.data_dir)
            if data is None:
                errors.append(f"{dataset}: {reason}")
                continue
            load_engine(lambda: log.info("Compiling the K-means engine, once on this machine: some ten seconds."))
            protocol = next(iter(cells.values()))[0].trial.protocol
            scaled = {method: Data.scaled(data, protocol, method) for method in cells}
            scores = Scores(folder.parent / ".evaluations")
            for method, own in cells.items():
                refit_seeds(own, scaled[method], folder / dataset / method, n_seeds, n_jobs, scores, note)
    finally:
        progress.close()
    return errors


@command("seeds")
def main(options):
    """Run the fits that the options describe."""
    study = Study.open(options["results_dir"], options["study"], options["data_dir"])
    if study.is_shipped:
        raise ValueError(study.refusal("other seeds"))
    problems = fit_seeds(study, options["methods"], options["datasets"], options["seeds"], options["n_jobs"])
    refuse("not all could be fitted again:", problems)


if __name__ == "__main__":
    main()
