"""Print a SLURM job that runs an experiment in parts, each into a folder of its own; sbatch takes it.

    python -m scripts.slurm experiment=fair hours=4 > fair.sh && sbatch fair.sh
    python -m scripts.slurm experiment=fair hours=4 cpus=8 parts=20 runner.max_seconds=3600

Each of `cpus` (4) cores has a worker, and each part the memory that so many of the largest fit take by the methods'
own estimates.  Without `parts`, there are as many as are needed to end within `hours`, by the seconds of your own
results and the shipped ones.  All other words are those of run.py.  A part that was cut off goes on where it was:
submit the same job again.  Afterwards scripts.merge joins the parts; the last line of the job says how.
"""

import functools
import math
import re
import shlex
import sys
from dataclasses import dataclass

from runners.code import ROOT
from runners.errors import ConfigError
from runners.experiment.cell import Cell
from runners.experiment.plan import Times, dealt
from runners.experiment.sweep import cells_of_words
from runners.store.reference import shipped_costs
from runners.workers.caps import MB_PER_GB
from runners.workers.memory import PROCESS_MB, fit_mb
from scripts.core.programs import program

FILLED = 0.7  # share of the hours that a part may be expected to take: another machine may be slower
MOST_UNKNOWN = 0.1  # share of the cells whose seconds may be unknown; they count as the mean of the others
MOST_PARTS = 1000  # in a job array, as many clusters allow no more
OPTIONS = {"experiment": r"\w+", "hours": r"\d+(?:\.\d+)?", "cpus": r"[1-9]\d{0,2}", "parts": r"[1-9]\d{0,3}"}


@dataclass(frozen=True)
class Need:
    """The needs of one cell: seconds of all its fits and of its longest one, nan where unknown, and MB of a worker."""

    seconds: float
    longest: float
    megabytes: float


def need_of(settings, times):
    """Return the `Need` of a cell; `times` is a function from a method to its `Times`."""
    cell, spec, most = Cell(settings), settings.dataset, settings.runner.max_seconds or math.inf
    trials = cell.asked
    seconds = [min(seconds, most) for seconds, _ in times(settings.method.name).each(spec, trials)]
    shape = cell.dataset.X.shape if None in (spec["samples"], spec["features"]) else (spec["samples"], spec["features"])
    # The data are held once, and mapped by all workers.
    return Need(sum(seconds), max(seconds), PROCESS_MB + max(fit_mb(trial, shape) for trial in trials))


def needs_of(settings):
    """Return the need of each cell, nothing where its method refuses the data set, and a line for each of these."""
    times = functools.cache(functools.partial(Times, settings[0].results_dir))
    needs, refused = [], []
    for one in settings:
        try:
            needs.append(need_of(one, times))
        except ConfigError as error:
            needs.append(Need(0.0, 0.0, 0.0))
            refused.append(f"warning: this cell will not be run: {error}")
    if len(refused) == len(needs):
        raise ConfigError(f"no cell can be run; the first one: {refused[0].partition(': ')[2]}")
    return needs, refused


def hours_of(cells, needs, n_parts, cpus, costs):
    """Return the hours that the longest of so many parts takes; a cell takes at least as long as its longest fit."""
    parts = [0.0] * n_parts
    for part, hours in zip(dealt(cells, n_parts, costs), _alone(needs, cpus), strict=True):
        parts[part] += hours
    return max(parts)


def _alone(needs, cpus):
    """Return the hours that each cell takes by itself."""
    return [max(need.seconds / cpus, need.longest) / 3600 for need in needs]


def parts_for(cells, needs, hours, cpus, costs):
    """Return the least number of parts, each of which is expected to end within `FILLED` of the hours.

    Where one cell takes longer by itself, so many that no part takes a quarter longer than it.
    """
    enough = max(FILLED * hours, 1.25 * max(_alone(needs, cpus)))
    least = math.ceil(sum(need.seconds for need in needs) / cpus / 3600 / enough)
    most = min(len(cells), MOST_PARTS)
    for n_parts in range(max(least, 1), most):
        if hours_of(cells, needs, n_parts, cpus, costs) <= enough:
            return n_parts
    return most


def script(words, study, n_parts, hours, cpus, megabytes):
    """Return the text of a job array."""
    minutes = math.ceil(60 * hours)
    parts, root, python = f"results_parts/{study}", shlex.quote(str(ROOT)), shlex.quote(sys.executable)
    command = " ".join([python, "run.py", *map(shlex.quote, words)])
    return f"""#!/bin/bash
#SBATCH --job-name={study}
#SBATCH --array=1-{n_parts}
#SBATCH --time={minutes // 60}:{minutes % 60:02}:00
#SBATCH --nodes=1 --ntasks=1 --cpus-per-task={cpus}
#SBATCH --mem={math.ceil(megabytes)}M
set -eu
cd {root}
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1
exec {command} shard="$SLURM_ARRAY_TASK_ID/{n_parts}" results_dir="{parts}/$SLURM_ARRAY_TASK_ID" runner.n_jobs={cpus}
# Once all parts have ended: cd {root} && {python} -m scripts.merge {parts}/* into=results
"""


def read(words):
    """Return the options of a command line, and its words for run.py."""
    given = dict(word.split("=", 1) for word in words if re.match(rf"(?:{'|'.join(OPTIONS)})=", word))
    for name, value in given.items():
        if not re.fullmatch(OPTIONS[name], value) or (name == "hours" and not float(value)):
            raise ConfigError(f"{name}={value} is not one; such as experiment=fair hours=4 cpus=4 parts=20.")
    if missing := [name for name in ("experiment", "hours") if name not in given]:
        raise ConfigError(f"{missing[0]} must be given: python -m scripts.slurm experiment=fair hours=4.")
    others = [word for word in words if word.split("=")[0] not in OPTIONS]
    for word in others:
        if word.startswith(("shard=", "results_dir=", "runner.n_jobs=", "-")):
            raise ConfigError(f"{word} is set by the job itself: leave it out.")
    return given, others


def job(words):
    """Return the text of the job array that a command line asks for, and warnings."""
    given, others = read(words)
    hours, cpus = float(given["hours"]), int(given.get("cpus", 4))
    settings = cells_of_words(f"experiment={given['experiment']}", *others)
    study = settings[0].study
    cells = [(one.dataset["name"], one.method.name) for one in settings]
    needs, refused = needs_of(settings)
    known = [need for need in needs if not math.isnan(need.seconds)]
    if len(known) < (1 - MOST_UNKNOWN) * len(needs) and "parts" not in given:
        raise ConfigError(
            f"the seconds of {len(needs) - len(known)} of {len(needs)} cells are unknown: run a few fits of each, by "
            f"python run.py experiment={given['experiment']} runner.points=sample, or set parts=N."
        )
    mean = Need(sum(need.seconds for need in known) / max(len(known), 1), 0.0, 0.0)
    counted = [mean if math.isnan(need.seconds) else need for need in needs]
    costs = shipped_costs(study)
    n_parts = int(given["parts"]) if "parts" in given else parts_for(cells, counted, hours, cpus, costs)
    long = [
        f"warning: {method} on {dataset} has a fit of about {need.longest / 3600:.1f} h, more than hours={hours:g}: it "
        "would never end; give it more hours, or set runner.max_seconds"
        for (dataset, method), need in zip(cells, counted, strict=True)
        if need.longest > 3600 * hours
    ]
    warnings = refused + long
    if not long and (longest := hours_of(cells, counted, n_parts, cpus, costs)) > hours:
        warnings.append(
            f"warning: a part may take {longest:.1f} h; what is cut off goes on when the job is submitted again"
        )
    if unknown := len(needs) - len(known):
        warnings.append(f"warning: the seconds of {counted(unknown, 'cell')} are unknown, and taken to be the mean")
    megabytes = PROCESS_MB + cpus * max(
        min(need.megabytes, PROCESS_MB + MB_PER_GB * (one.runner.max_memory or math.inf))
        for need, one in zip(needs, settings, strict=True)
    )
    words = [f"experiment={given['experiment']}", *others]
    return script(words, study, n_parts, hours, cpus, megabytes), warnings


def main():
    """Print the job that the command line asks for."""
    words = sys.argv[1:]
    if not words or {"--help", "-h"} & set(words):
        print(__doc__)
        return
    print("planning the parts", file=sys.stderr, flush=True)  # those of `fair` take a minute
    text, warnings = job(words)
    print(text, end="")
    print("\n".join(warnings), file=sys.stderr, end="\n" * bool(warnings))


if __name__ == "__main__":
    with program():
        main()
