"""The state of cells as a table, with the trials that failed."""

import math

from ufs_bench.metrics.study import UNSCORED
from ufs_bench.runners.words import counted, duration
from ufs_bench.scripts.core.views import render
from ufs_bench.scripts.status import ABSENT

HEAD = ["study", "data set", "method", "done", "running", "pending", *UNSCORED, "seconds", "left"]


def status_page(found):
    """Return the page that `python -m scripts.status` prints."""
    shown = [state for state in found if not state.refused]
    stored, n_trials = sum(state.stored for state in shown), sum(state.n_trials for state in shown)
    known = sum(state.left for state in shown if not math.isnan(state.left))
    unknown = sum(state.n_trials - state.stored for state in shown if math.isnan(state.left))
    times = [f"about {duration(known)}"] if unknown < n_trials - stored else []
    return render(
        "status/status.md.j2",
        head=HEAD,
        lines=list(map(_line, shown)),
        absent=[state.dataset for state in found if state.refused == ABSENT],
        refused=[state for state in found if state.refused not in ("", ABSENT)],
        stored=stored,
        n_trials=n_trials,
        rest=n_trials - stored,
        times=times + ([f"{counted(unknown, 'fit')} of unknown time"] if unknown else []),
        counted=counted,
        failed=[(state, row) for state in shown for row in state.failed],
    )


def _line(state):
    counts = (state.done, state.running, state.pending, *(state.ends.get(status, 0) for status in UNSCORED))
    return [
        state.study, state.dataset, state.method, *map(str, counts), f"{state.seconds:.0f}",
        duration(state.left) if state.n_trials > state.stored else "",
    ]  # fmt: skip
