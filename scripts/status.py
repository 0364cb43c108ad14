"""The state of the cells of a study, from their committed rows: ``python -m scripts.status --help``."""

import sys
import time
from pathlib import Path

import pandas as pd

from ufs_bench.metrics.study import UNSCORED
from ufs_bench.runners.experiment.notes import RUN, read_run
from ufs_bench.runners.messages import counted, duration
from ufs_bench.runners.store.fits import FILE, cells_of, read_fits
from ufs_bench.runners.store.row import TRIALS
from ufs_bench.scripts.core.command_lines import check_stored
from ufs_bench.scripts.core.entry import command
from ufs_bench.scripts.core.study import Study
from ufs_bench.scripts.core.text import pipes

CLEAR = "\x1b[2J\x1b[H"
HEAD = ["study", "data set", "method", "done", "running", "pending", *UNSCORED, "seconds", "left"]


def states(results_dir, study=None):
    """Return the state of every stored cell, a dict, of all studies or of one."""
    begun = [*cells_of(results_dir, study), *Path(results_dir).glob(f"{study or '*'}/*/*/{RUN}")]
    return list(map(_state, sorted({path.parent for path in begun})))


def _state(folder):
    """Return the state of a cell; of what its last run asked for, if it says so."""
    trials, (asked, n_workers) = pd.DataFrame(read_fits(folder / FILE), columns=TRIALS), read_run(folder)
    trials = trials if asked is None else trials[trials["trial"].isin(asked)]
    rest = max(len(asked or ()) - len(trials), 0)
    failed = trials[trials["status"].isin(UNSCORED)]
    spent = trials["fit_s"].fillna(0.0) + trials["eval_s"].fillna(0.0)
    running = min(n_workers, rest)
    ends = failed["status"].value_counts().to_dict()
    return {
        "study": folder.parts[-3], "data set": folder.parts[-2], "method": folder.parts[-1],
        "done": len(trials) - len(failed), "running": running, "pending": rest - running,
        **{status: ends.get(status, 0) for status in UNSCORED}, "seconds": float(spent.sum()),
        "left": float(rest * spent.mean() / max(n_workers, 1)) if rest and len(trials) else 0.0,
        "rest": rest, "errors": failed.to_dict("records"),
    }  # fmt: skip


def page(found):
    """Return the states as a table, with a line for every fit that has no scores."""
    if not found:
        return "nothing is stored, and nothing runs."
    lines = [HEAD]
    for state in found:
        texts = {"seconds": f"{state['seconds']:.0f}", "left": duration(state["left"]) if state["rest"] else ""}
        lines.append([texts.get(name, str(state[name])) for name in HEAD])
    rest, left = sum(state["rest"] for state in found), sum(state["left"] for state in found)
    said = f"left {counted(rest, 'fit')}, about {duration(left)}." if rest else "nothing left."
    parts = [pipes(lines), f"{counted(len(found), 'cell')}; {said}"]
    for state in found:
        for row in state["errors"]:
            where = f"{row['status']}: {state['method']} on {state['data set']}"
            parts.append(f"{where}, {row['params']} sizes {row['sizes']}: {row['error']}")
    return "\n\n".join(parts)


@command("status")
def main(options):
    """Print the state of the cells once, or repeatedly until nothing is left."""
    study, watch = options["study"], options["watch"]
    if study is not None and not states(options["results_dir"], study):
        check_stored(Study.open(options["results_dir"], study))
    while True:
        found = states(options["results_dir"], study)
        print((CLEAR if watch and sys.stdout.isatty() else "") + page(found), flush=True)
        if not watch or not any(state["rest"] for state in found):
            return
        time.sleep(watch)


if __name__ == "__main__":
    main()
