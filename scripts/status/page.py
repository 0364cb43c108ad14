"""The state of cells as a table, with the trials that failed and how to repeat them."""

import math

from metrics.study import UNSCORED
from runners.words import counted, duration
from scripts.core.command_lines import repeat
from scripts.core.text import pipes

HEAD = ["study", "data set", "method", "done", "running", "pending", *UNSCORED, "seconds", "left"]


def status_page(found):
    """Return the page that `python -m scripts.status` prints."""
    if not found:
        return "nothing is stored, and nothing runs.\n"
    absent = [state for state in found if state.absent]
    found = [state for state in found if not state.absent]
    parts = [pipes([HEAD, *(_line(state) for state in found)]), _total(found)]
    if absent:
        names = ", ".join(dict.fromkeys(state.dataset for state in absent))
        parts.append(f"{counted(len(absent), 'cell')} on data sets that are not on this machine, skipped: {names}.")
    for state in found:
        for row in state.failed:
            command = repeat(row)
            parts.append(
                f"{row['status']}: {state.method} on {state.dataset}, {row['params']} sizes {row['sizes']}: "
                f"{row['error']}" + (f"\n  {command}" if command else "")
            )
    return "\n\n".join(parts) + "\n"


def _line(state):
    counts = (state.done, state.running, state.pending, *(state.ends.get(status, 0) for status in UNSCORED))
    return [
        state.study, state.dataset, state.method, *map(str, counts), f"{state.seconds:.0f}",
        duration(state.left) if state.n_trials > state.stored else "",
    ]  # fmt: skip


def _total(found):
    rest = sum(state.n_trials - state.stored for state in found)
    text = f"{counted(len(found), 'cell')}: {sum(state.stored for state in found)} of "
    text += f"{counted(sum(state.n_trials for state in found), 'fit')} stored"
    if not rest:
        return f"{text}, nothing left."
    known = sum(state.left for state in found if not math.isnan(state.left))
    unknown = sum(state.n_trials - state.stored for state in found if math.isnan(state.left))
    times = [f"about {duration(known)}"] if unknown < rest else []
    times += [f"{counted(unknown, 'fit')} of unknown time"] if unknown else []
    return f"{text}; left {rest}, {' and '.join(times)}."
