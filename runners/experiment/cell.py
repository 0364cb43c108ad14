"""A cell, which is a method on a data set: its trials, its stored rows, the trials that it lacks, and its run."""

import functools
import math
import time
from collections import Counter

from ufs_bench.datasets import load_dataset
from ufs_bench.metrics.study import UNSCORED
from ufs_bench.runners.code import code_of
from ufs_bench.runners.experiment.grid import check_at_hand, expand, first_points, stand_in
from ufs_bench.runners.experiment.method import check_sparse
from ufs_bench.runners.experiment.notes import RUN, ends_text, logged, note_log, noted_run
from ufs_bench.runners.experiment.plan import Plan, Times, Todo
from ufs_bench.runners.experiment.result import say_result
from ufs_bench.runners.experiment.settings import NONE, SHIPPED
from ufs_bench.runners.messages import ConfigError, counted
from ufs_bench.runners.progress import Progress, log, say_compiling
from ufs_bench.runners.store.files import clear_unfinished, store_names
from ufs_bench.runners.store.fits import FILE, Store, check_study, is_exported, read_fits
from ufs_bench.runners.store.identity import Identity
from ufs_bench.runners.store.reference import found_elsewhere, name_of, outcomes_of
from ufs_bench.runners.store.row import to_json

MANY_SAMPLES = 2000  # an (n_samples, n_samples) array of more samples takes over 32 MB


class Cell:
    """A method on a data set, under a protocol."""

    def __init__(self, settings):
        self.settings, self.folder = settings, settings.folder

    @functools.cached_property
    def dataset(self):
        """The data, unscaled."""
        return load_dataset(self.settings.dataset, data_dir=self.settings.data_dir)

    @functools.cached_property
    def trials(self):
        """All trials that the configuration asks for."""
        return self._asked_of(self.dataset)

    @functools.cached_property
    def planned(self):
        """All trials that the configuration asks for; data are loaded only where no checksum is stated."""
        spec, folder = self.settings.dataset, self.settings.data_dir
        if spec.get("data_sha256"):
            check_at_hand(spec, folder)
            return self.asked
        return self._asked_of(load_dataset(spec, data_dir=folder, download=False))

    @functools.cached_property
    def asked(self):
        """All trials, as the shape of the data decides; only with its checksum their keys are the stored ones."""
        data = stand_in(self.settings)
        return self._asked_of(self.dataset if data is None else data)

    def _asked_of(self, data):
        settings, points = self.settings, self.settings.runner.points
        check_sparse(settings.method, settings.protocol, data, settings.dataset)
        trials = expand(settings.study, data, settings.method, settings.protocol, defaults=points == "default")
        if points == "grid":
            return trials
        if isinstance(points, int):
            return first_points(trials, points)
        if not trials:
            raise ConfigError(
                f"runner.points=default, but method.grid leaves out the defaults {settings.method.params}: "
                "set points=grid."
            )
        return trials

    def rows(self):
        """Return the stored fits, read without the lock."""
        return read_fits(self.folder / FILE)

    def todo(self, rows, trials=None):
        """Return the trials without a stored row, or whose row is of other code, packages or machines."""
        runner, here = self.settings.runner, Identity.of(self.settings.method.cls)
        stored, todo = {row["trial"]: row for row in rows}, Todo()
        for trial in self.trials if trials is None else trials:
            row = stored.get(trial.key)
            if row is None or row["status"] in runner.retry:
                todo.missing.append(trial)
                continue
            there = Identity.stored(row)
            why = "runner.redo" if runner.redo else here.difference(there)
            if not why or (not runner.redo and here.same_fit(there) and row["status"] in UNSCORED):
                continue
            todo.why[why] += 1
            (todo.rescored if here.same_fit(there) and not runner.redo else todo.again).append(trial)
        return todo

    def not_elsewhere(self, trials):
        """Return the trials that a run computes, as it takes them from no other study."""
        taken = {trial.key for there in self._elsewhere(trials).values() for _, trial in there}
        return [trial for trial in trials if trial.key not in taken]

    def _elsewhere(self, trials, shipped=False):
        reuse = self.settings.runner.reuse
        return {} if reuse == NONE else found_elsewhere(self.settings, trials, shipped or reuse == SHIPPED)

    def plan(self, times=Times):
        """Return the `Plan` of the cell, with seconds from `times`; writes nothing and downloads nothing."""
        settings, runner = self.settings, self.settings.runner
        todo = self.todo(self.rows(), self.planned)
        pending = self.not_elsewhere(todo.missing + todo.again)
        shipped = sum(map(len, self._elsewhere(pending, shipped=True).values()))
        most = math.inf if runner.max_seconds is None else runner.max_seconds
        found = times(settings.results_dir, settings.method.name, most).each(settings.dataset, pending)
        source = Counter(source for _, source in found).most_common(1)[0][0] if found else ""
        seconds = sum(seconds for seconds, _ in found)
        counts = len(self.planned), len(pending), shipped
        return Plan(str(self), *counts, seconds, source, runner.n_jobs, todo.words())

    def finished(self):
        """Return the line about a cell in which nothing is left to do; None where its data are needed to know that."""
        if self.settings.runner.redo or not self.settings.dataset.get("data_sha256") or not is_exported(self.folder):
            return None
        rows = self.rows()
        defaults = {trial.key: trial.is_default for trial in self.planned}
        if {row["trial"]: row["is_default"] for row in rows} != defaults or self.todo(rows, self.planned):
            return None
        return ends_text(str(self), Counter(row["status"] for row in rows))

    def run(self, place="", on_wait=None):
        """Run the trials that are lacking, report how they went, and return the rows of those without scores.

        `place` is that of the cell in a sweep, where a cell in which nothing is left to do prints one line.  `on_wait`
        is called where another process holds the cell; this one then waits, unless it raises.
        """
        started, settings = time.perf_counter(), self.settings
        keys = {trial.key for trial in self.trials}
        check_study(self.folder, self.dataset, settings.protocol)
        with Store(self.folder, on_wait=on_wait or self._say_held) as store, logged(self.folder):
            clear_unfinished(self.folder / RUN)
            todo = self.todo(store.fits())
            if todo or not place:
                self._announce(place, todo)
            unscored = self._do(todo, store) if todo else []
            self._note_default(store, keys)
            store_names(self.folder.parent, self.dataset.sha, self.dataset.feature_names)
            fits = store.fits()
        ends = Counter(fit["status"] for fit in fits if fit["trial"] in keys)
        if todo or not place:
            say_result(settings, self.trials, fits, len(todo), time.perf_counter() - started, self.dataset.X)
        else:
            log.info("%s%s", place, ends_text(str(self), ends))
        return unscored

    def __str__(self):
        return str(self.settings)

    def _note_default(self, store, keys):
        """Mark the fits of the default parameters; a former default of other code goes, other points of a grid stay.

        A default is often changed with the code, and no table should choose between both.
        """
        method, fits = self.settings.method, store.fits()
        default = to_json(method.params_at({}, self.settings.protocol.clusters_of(self.dataset.n_classes)))
        code = Identity.of(method.cls).code_fit
        gone = {fit["trial"] for fit in fits if fit["is_default"] and fit["code_fit"] != code} - keys
        if gone:
            log.info("  %s of a former default by other code dropped", counted(len(gone), "trial"))
            store.forget(gone)
        wrong = [fit for fit in fits if fit["is_default"] != (fit["params"] == default) and fit["trial"] not in gone]
        store.append([fit | {"is_default": not fit["is_default"]} for fit in wrong])

    def _say_held(self):
        log.info("  another run holds %s; waiting for it to end", self.folder)

    def _announce(self, place, todo):
        dataset, protocol, trials = self.dataset, self.settings.protocol, self.trials
        log.info(
            "%s%s (%d x %d, %d %s): %s",
            place, self, *dataset.X.shape, dataset.n_classes,
            "classes" if dataset.y is not None else "clusters, no labels", counted(len(trials), "trial"),
        )  # fmt: skip
        too_large = [size for size in protocol.sizes_on(dataset.name) if size > dataset.n_features]
        if too_large and trials[0].sizes != (dataset.n_features,):
            log.info("  sizes %s are above n_features=%d and are left out", too_large, dataset.n_features)
        if len(todo) < len(trials):
            log.info("  %d of them stored already, %d to do", len(trials) - len(todo), len(todo))
        if unknown := code_of(self.settings.method.cls).unknown:
            log.info("  not all of the method's code is known (%s): its trials are run anew at every run", unknown)
        if words := todo.words():
            log.info("  %s, kept until the new ones are stored", words)

    def _do(self, todo, store):
        """Run and store the trials that are lacking; return the rows of those without scores."""
        settings, n_jobs, trials = self.settings, self.settings.runner.n_jobs, todo.missing + todo.again
        rows = {fit["trial"]: fit for fit in store.fits()}
        without = {"code_evaluation": Identity.of(settings.method.cls).code_evaluation, "sets": []}
        fits = [(trial, rows[trial.key] | without) for trial in todo.rescored]
        elsewhere = self._elsewhere(trials)
        taken = [outcomes_of(cell, there) for cell, there in elsewhere.items()]
        known = {outcome.trial["trial"] for outcomes in taken for outcome in outcomes}
        # In the order of their hashes: the time left is estimated from fits all over the grid.
        rest = sorted((one for one in trials if one.key not in known), key=lambda one: one.key)
        if rest:
            from ufs_bench.runners.workers.data import n_stored  # here, as a finished cell needs none of it
            from ufs_bench.runners.workers.machine import workers_within_memory

            X = self.dataset.X
            n_jobs = workers_within_memory(rest, X.shape, n_jobs, settings.runner.caps, n_stored(X))
        if known:
            for place, there in elsewhere.items():
                log.info(
                    "  %d of them taken from the %s, which has the same fits by this code", len(there), name_of(place)
                )
            self._store_all(taken, len(known), store)
        if not rest and not fits:
            return []
        with noted_run(self.folder, [trial.key for trial in self.trials], n_jobs):
            return self._run_pending(rest, fits, n_jobs, store)

    def _run_pending(self, trials, fits, n_workers, store):
        """Run and store trials; return the rows of those without scores."""
        from ufs_bench.metrics.kmeans import load_engine  # here, as a finished cell needs none of it
        from ufs_bench.runners.workers.data import Data
        from ufs_bench.runners.workers.pool import run_all

        runner = self.settings.runner
        data = Data.scaled(self.dataset, self.settings.protocol, self.settings.method.name)
        # Here, so that the workers find the loops compiled and do not each compile them.
        load_engine(say_compiling)
        # A single trial is not worth a worker, unless the system may kill it for its memory: then only that dies.
        single = len(trials) + len(fits) == 1 and self.dataset.X.shape[0] <= MANY_SAMPLES
        n_workers = 1 if single else n_workers
        outcomes = run_all(trials, data, n_workers, runner.caps, fits)
        return self._store_all(outcomes, len(trials) + len(fits), store)

    def _store_all(self, outcomes, total, store):
        unscored, ends = [], Counter()
        progress = Progress(total)
        try:
            for ended in outcomes:
                store.append([outcome.trial for outcome in ended])
                for outcome in ended:
                    row = outcome.trial
                    ends[row["status"]] += 1
                    if row["status"] in UNSCORED:
                        unscored.append(row)
                        progress.say(f"  {row['status']}: {row['params']} sizes {row['sizes']}: {row['error']}")
                    note_log(self.folder, outcome)
                progress.step(len(ended), ends)
        finally:
            progress.close()
        return unscored
