"""Hand in a method: check it, run it as the shipped methods were, pack and verify its results, print the findings anew.

    python -m scripts.submit mine                        the method of conf/method/mine.yaml, once it is committed
    python -m scripts.submit mine --plan                 says what it takes, after one fit on the largest data sets
    python -m scripts.submit mine runner.n_jobs=1        with words that run.py takes about method and runner

The same command goes on where it was stopped.  Its data sets are those of the shipped study that are on this machine:
python -m scripts.fetch_data dataset=all gets the others.  At the end it says what to commit and push.
"""

import subprocess
from math import isnan
from pathlib import Path
from textwrap import fill

from metrics.study import RANDOM
from runners.store import checkout
from runners.store.reference import PREFIX
from runners.words import counted
from scripts.check_method.__main__ import main as check
from scripts.core.conf import CONF, ROOT, printed
from scripts.core.programs import differing, parser_of, program
from scripts.core.study import Study
from scripts.core.text import with_interval, write
from scripts.findings import __main__ as findings
from scripts.findings.findings_page import sentences
from scripts.ship import ship
from scripts.verify.__main__ import lines_of
from scripts.verify.check import check as verify
from scripts.verify.check import part
from scripts.verify.scores import Spent
from scripts.versus import versus
from scripts.versus.runs import OF_RUN, data_sets, fit, most_points

STUDY = "fair"
CODE = ("datasets", "methods", "metrics", "runners", "scripts")


def main():
    """Hand in the method that the command line names."""
    given = _parser().parse_intermixed_args()
    if not (CONF / "method" / f"{given.method}.yaml").exists():
        raise ValueError(f"there is no conf/method/{given.method}.yaml: docs/own_method.md says how to add a method.")
    if other := [word for word in given.words if not OF_RUN.match(word)]:
        raise ValueError(f"{other[0]}: only words about method and runner are handed to run.py.")
    if changed := uncommitted(given.method):
        raise ValueError(
            f"{', '.join(changed)}: not committed, and its rows would say -dirty. Commit first: git add "
            f"{' '.join(changed)} && git commit -m 'ENH {given.method}'"
        )
    if check([f"method={given.method}", "data=false"]):
        raise ValueError(f"{given.method} must keep the contract: mend what says FAIL above.")
    study = Study.open(given.results_dir, PREFIX + STUDY, given.data_dir)
    datasets, said = data_sets(study, given.datasets, given.data_dir)
    print("\n".join(["", *said]), flush=True)
    options = {"method": given.method, "points": most_points(study, datasets), "plan": given.plan}
    options |= {"results_dir": given.results_dir, "data_dir": given.data_dir}
    fit(study, STUDY, given.method, given.words, datasets, options)
    _pack(given)
    written = _written(given.method, Study.open(given.results_dir, PREFIX + STUDY, given.data_dir))
    print(f"\nTo hand it in:\n  git add {' '.join(written)}\n  git commit -m 'ENH results of {given.method}'")
    print("  git push -u origin HEAD\nThen open a pull request, which says why data sets are missing, if some are.")


def uncommitted(method):
    """Return the files that differ from the last commit: of `checkout.CODE`, and new ones that the method may need.

    New ones are in folders of code, and in conf/ its own: the data and the protocol of the study are there already.
    """
    words = ["git", "--no-optional-locks", "status", "--porcelain", "--untracked-files=all", *checkout.CODE]
    try:
        lines = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    except (OSError, subprocess.CalledProcessError) as error:
        raise ValueError(f"{ROOT} must be a clone made by git, so that results name their commit: {error}") from error
    own = (f"conf/method/{method}.yaml", *(f"{folder}/" for folder in CODE))
    return [line[3:] for line in lines if not line.startswith("??") or line[3:].startswith(own)]


def _pack(given):
    """Ship the cells of the method, and verify them."""
    new, kept, left_out = ship(given.results_dir, STUDY, methods=[given.method])
    print(f"\n{counted(len(new), 'cell')} packed, {len(kept)} unchanged.")
    if left_out:
        raise ValueError(f"{', '.join(left_out)}: fits are missing. The same command runs them.")
    spent = Spent()
    cells = part(STUDY, None, [given.method])
    _, found = verify(STUDY, cells, given.data_dir, spent, Path(given.results_dir, ".evaluations"), say=lambda line: 0)
    print(f"{counted(len(cells), 'cell')} verified: {spent}.")
    if found:
        raise ValueError("\n".join(["not all is accepted:", *lines_of(found)]))


def _written(method, study):
    """Write the pages that rest on the study, print what they say with the method, and return what git is to add."""
    settings = findings.settings_for(study)
    print("\nThe findings with it:\n")
    for number, text in enumerate([*_places(method, study, settings), *sentences(settings)], 1):
        print(fill(f"{number}. {text}", 120, subsequent_indent="   "))
    texts = differing(findings.pages(study.name, settings))
    for path, text in texts.items():
        write(text, path)
    return [f"results/reference/{STUDY}", *(str(path.relative_to(ROOT)) for path in texts)]


def _places(method, study, settings):
    """Return a sentence a size on how a method stands, on the data sets of the findings, or else on the others."""
    own = set(study.trials.loc[study.trials["method"] == method, "dataset"])
    for one in settings:
        datasets = sorted(own.intersection(one.field.families))
        elsewhere = "" if datasets else ", none of which the findings count"
        datasets = datasets or sorted(own)
        found = versus(study, study.part([method], datasets), method, datasets, one.selection)
        row, ranks = found.table.loc[RANDOM], found.places["average_rank"].dropna()
        gain = with_interval(row["gain"], row["low"], row["high"])
        tested = "" if isnan(row["p"]) else f", p = {row['p']:.2g}"
        yield (
            f"{printed('method', method)} with {one.size} features: {gain} points over random "
            f"rankings on {row['n_datasets']:.0f} data sets{elsewhere}{tested}; average rank "
            f"{ranks[method]:.1f} among the {len(ranks)} methods that have all of these."
        )


def _parser():
    parser = parser_of("scripts.submit", __doc__)
    parser.add_argument("method", help="a file of conf/method")
    parser.add_argument(
        "words",
        nargs="*",
        metavar="WORD",
        default=[],
        help="none, or such as runner.n_jobs=1 or runner.max_seconds=600",
    )
    parser.add_argument("--plan", action="store_true", help="say what it takes, and end")
    parser.add_argument("--datasets", nargs="+", metavar="NAME", help="only these")
    parser.add_argument("--results-dir", default=str(ROOT / "results"))
    parser.add_argument("--data-dir", help="a folder of data files [$UFS_DATA_DIR]")
    return parser


if __name__ == "__main__":
    with program():
        main()
