"""Check that a method keeps the contract, and print what holds and what does not."""

from collections import Counter

from ufs_bench.scripts.check_method.configuration import CONFIGURATION, FIRST_FIT, GROUPS
from ufs_bench.scripts.check_method.contract import FAIL, OK, examine, examine_as_estimator
from ufs_bench.scripts.check_method.properties import PROPERTIES

WIDTH = 84


def check_contract(method, with_tracebacks=False):
    """Print every property of a method as it is checked, and return the number of each verdict.

    Nothing else is checked where the method cannot be fitted.
    """
    counts = Counter()
    for group in GROUPS:
        print(f"\n{group}")
        for check in (check for check in PROPERTIES if check.group == group):
            print(f"  {check.__name__.replace('_', ' '):{WIDTH}}", end=" ", flush=True)
            _end(examine(check, method), counts, with_tracebacks)
        if group in (CONFIGURATION, FIRST_FIT) and counts[FAIL]:
            print("\nThe other checks need this to hold, and were not tried.")
            return counts
    print("\nscikit-learn")
    if method.is_plain:
        each = method.cls.size_in_objective
        print(
            "  not checked: these are for the class itself, and this one is taken as it is. Its size is "
            f"{method.cls.size_name or 'not asked for'}: one fit for {'each size' if each else 'all sizes'}."
        )
        return counts
    print(f"  {'it is an estimator by the checks of scikit-learn':{WIDTH}}", end=" ", flush=True)
    findings = examine_as_estimator(method)
    failed = {name: finding for name, finding in findings.items() if finding.verdict == FAIL}
    print(f"{len(findings) - len(failed)} of {len(findings)} ok")
    counts[OK] += len(findings) - len(failed)
    for name, finding in failed.items():
        print(f"  {name.replace('_', ' '):{WIDTH}}", end=" ")
        _end(finding, counts, with_tracebacks)
    return counts


def _end(finding, counts, with_tracebacks):
    """Print how a check went, and count it."""
    counts[finding.verdict] += 1
    print(finding.verdict)
    if finding.reason:
        print(f"      {finding.reason}")
    if finding.details and with_tracebacks:
        print("".join(f"      | {line}\n" for line in finding.details.rstrip().splitlines()), end="")
