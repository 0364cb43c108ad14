"""Hands in a method whose fits are stored: check it, pack them, print the findings."""

import subprocess

from ufs_bench.runners import place
from ufs_bench.runners.messages import counted
from ufs_bench.runners.store.reference import PREFIX
from ufs_bench.scripts.check_method.__main__ import main as check_method
from ufs_bench.scripts.core.conf import CONF, ROOT
from ufs_bench.scripts.core.study import Study
from ufs_bench.scripts.core.text import differing, pipes, write
from ufs_bench.scripts.findings import __main__ as findings
from ufs_bench.scripts.findings.plan import estimates
from ufs_bench.scripts.ship.pack import ship

STUDY = "fair"
CODE = ("datasets", "methods", "metrics", "runners", "scripts")


def hand_in(options):
    """Hand in the method that the options name, whose fits are stored in the user's study."""
    method, name = options["method"], (options["study"] or STUDY).removeprefix(PREFIX)
    if not (CONF / "method" / f"{method}.yaml").exists():
        raise ValueError(f"there is no conf/method/{method}.yaml: docs/own_method.md says how to add a method.")
    if changed := uncommitted(method):
        raise ValueError(
            f"{', '.join(changed)}: not committed, and rows name the commit of their code. Commit first: git add "
            f"{' '.join(changed)} && git commit -m 'ENH {method}'"
        )
    run = f"python run.py experiment={name} method={method}"
    rows = Study.open(options["results_dir"], name).trials.query("method == @method")
    if rows.empty:
        raise ValueError(f"study={name} has no fits of {method} in {options['results_dir']}. To run them: {run}")
    if rows["git_sha"].str.endswith("-dirty").any():
        raise ValueError(
            f"fits of {method} are of code that was not committed. To run them again: {run} runner.redo=true"
        )
    if check_method([f"method={method}"]):
        raise ValueError(f"{method} must keep the contract: mend what says FAIL above.")
    new, kept, left_out = ship(options["results_dir"], name, methods=[method])
    print(f"\n{counted(len(new), 'cell')} packed, {len(kept)} unchanged.")
    if left_out:
        raise ValueError(f"{', '.join(left_out)}: fits are missing. To run them: {run}")
    written = [f"results/reference/{name}"]
    if PREFIX + name == findings.STUDY:
        written += _findings(Study.open(options["results_dir"], PREFIX + name, options["data_dir"]))
    print(f"\nHow it compares with each other method: python -m scripts.rank study={name} method={method}")
    print(f"To hand it in:\n  git add {' '.join(written)}\n  git commit -m 'ENH results of {method}'")
    print("  git push -u origin HEAD\nThen open a pull request, which says why data sets are missing, if some are.")


def uncommitted(method):
    """Return the files that differ from the last commit: of `place.CODE`, and new ones that the method may need.

    New ones are in folders of code, and in conf/ its own: the data and the protocol of the study are there already.
    """
    words = ["git", "--no-optional-locks", "status", "--porcelain", "--untracked-files=all", *place.CODE]
    try:
        lines = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    except (OSError, subprocess.CalledProcessError) as error:
        raise ValueError(f"{ROOT} must be a clone made by git, so that results name their commit: {error}") from error
    own = (f"conf/method/{method}.yaml", *(f"{folder}/" for folder in CODE))
    return [line[3:] for line in lines if not line.startswith("??") or line[3:].startswith(own)]


def _findings(study):
    """Print the gains of all methods, write the pages that have them, and return their paths."""
    plan = estimates(study)
    print(f"\nThe gains with it:\n\n{pipes(findings.tables(study, plan)['gains'])}\n")
    pages = differing(findings.pages(study, plan))
    for path, text in pages.items():
        write(text, path)
    print("Sentences that no longer hold are named by: python -m pytest tests/project/test_findings_page.py")
    return [str(path.relative_to(ROOT)) for path in pages]
