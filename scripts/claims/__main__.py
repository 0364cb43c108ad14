"""The papers' claims, measured anew: ``python -m scripts.claims dgufs_l0`` prints one, and stores nothing.

With --write, and without a name, which measures all, the numbers go to results/published_claims.csv, and docs/claims.md
is printed from there.  Real data are found as `run.py` finds them; what lacks them is left out, and listed at the end.
With --page nothing is measured.
"""

import functools
import sys
import time
import warnings

from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from datasets import DataError, dataset_names, load_dataset
from runners.store.checkout import git_sha
from scripts.claims import CLAIMS
from scripts.claims.core.claim import Claim
from scripts.claims.core.claims_page import page, table, verdicts
from scripts.claims.core.store import load, replaced, rows, store
from scripts.core.conf import ROOT
from scripts.core.programs import parser_of
from scripts.core.text import pipes

loaded = functools.cache(load_dataset)  # all claims get the same object, by which fits are remembered
PAGE = ROOT / "docs/claims.md"


def main():
    """Run the command line."""
    parser = parser_of("scripts.claims", __doc__)
    known = [claim.name for claim in CLAIMS]
    parser.add_argument("names", metavar="NAME", nargs="*", help=f"claims [all]: {', '.join(known)}")
    parser.add_argument("--write", action="store_true", help="store the numbers of named claims, too, and the page")
    parser.add_argument("--page", action="store_true", help="measure nothing, print docs/claims.md from what is stored")
    parser.add_argument("--data-dir", help="folder of the data files [$UFS_DATA_DIR, the cache, a download]")
    options = parser.parse_args()
    if unknown := set(options.names) - set(known):
        sys.exit(f"error: no such claim: {', '.join(sorted(unknown))}; there are: {', '.join(known)}.")
    write, left_out = options.write or not options.names, []
    if not options.page:
        claims = {claim.name: claim for claim in CLAIMS}
        for name in options.names or claims:
            left_out += measure(claims[name], options.data_dir, write)
    if write or options.page:
        PAGE.write_text(page(CLAIMS, load()), encoding="utf-8")
    if left_out:
        sys.exit("error: left out, for want of data:\n  " + "\n  ".join(left_out))


def measure(claim, data_dir, write):
    """Measure a claim on its data sets, print verdicts, and print or store numbers; return what was left out."""
    if not isinstance(claim, Claim):
        print(f"{claim.name}: cannot be tested here: {claim.reason}")
        return []
    order = [(each.name, dataset) for each in CLAIMS if isinstance(each, Claim) for dataset in each.datasets]
    started, left_out, found = time.process_time(), [], load()[:0]
    for dataset in claim.datasets:
        try:
            data = loaded(dataset, data_dir) if dataset in dataset_names() else dataset
        except DataError as error:
            left_out.append(f"{claim.name} on {dataset}: {str(error).splitlines()[0]}")
            continue
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # some fits stop early on purpose; n_iter_ is measured
            measured = list(claim.measure(data))
        own = claim.name, dataset, measured, git_sha()[:7], order
        found = replaced(found, *own)
        if write:
            store(*own)
    seconds = time.process_time() - started
    if not write:
        print(pipes(table(claim, rows(found, claim.name))))
    for variant, (word, outcomes) in verdicts(claim, load() if write else found).items():
        print(f"{claim.name}: {variant}: {word} {outcomes}  {seconds:.0f} CPU s", flush=True)
    return left_out


if __name__ == "__main__":
    main()
