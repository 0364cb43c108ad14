"""Check that a method keeps the contract, and print what holds and what does not."""

from ufs_bench.scripts.check_method.configuration import CONFIGURATION, FIRST_FIT, GROUPS
from ufs_bench.scripts.check_method.contract import FAIL, KNOWN, OK, examine, examine_as_estimator
from ufs_bench.scripts.check_method.properties import PROPERTIES

WIDTH = 84


class Report:
    """Prints one line for every finding as it comes, and counts them."""

    def __init__(self, verbose):
        self.verbose = verbose
        self.counts = dict.fromkeys((OK, KNOWN, FAIL), 0)
        self._reason = ""

    def start(self, sentence):
        """Print what is checked next."""
        print(f"  {sentence.replace('_', ' '):{WIDTH}}", end=" ", flush=True)

    def end(self, finding):
        """Print how the check went."""
        self.counts[finding.verdict] += 1
        print(finding.verdict)
        if finding.reason:
            repeated = finding.verdict == FAIL and finding.reason == self._reason
            print(f"      {'as above' if repeated else finding.reason}")
            self._reason = finding.reason
        if finding.details and self.verbose:
            print("".join(f"      | {line}\n" for line in finding.details.rstrip().splitlines()), end="")

    def add(self, sentence, finding):
        """Print a check and how it went."""
        self.start(sentence)
        self.end(finding)


def check_contract(method, report):
    """Report every property of a method; nothing else is checked where it cannot be fitted."""
    for group in GROUPS:
        print(f"\n{group}")
        for check in (check for check in PROPERTIES if check.group == group):
            report.start(check.__name__)
            report.end(examine(check, method))
        if group in (CONFIGURATION, FIRST_FIT) and report.counts[FAIL]:
            print("\nThe other checks need this to hold, and were not tried.")
            return
    print("\nscikit-learn")
    if method.is_plain:
        each = method.cls.size_in_objective
        print(
            "  not checked: these are for the class itself, and this one is taken as it is. Its size is "
            f"{method.cls.size_name or 'not asked for'}: one fit for {'each size' if each else 'all sizes'}."
        )
        return
    report.start("it is an estimator by the checks of scikit-learn")
    findings = examine_as_estimator(method)
    failed = {name: finding for name, finding in findings.items() if finding.verdict == FAIL}
    print(f"{len(findings) - len(failed)} of {len(findings)} ok")
    for name, finding in findings.items():
        if finding.verdict == OK:
            report.counts[OK] += 1
        else:
            report.add(name, finding)
