"""``python -m scripts.check_method --help``."""

import sys
import time
from collections import Counter
from pathlib import Path

from ufs_bench.metrics.threads import one_thread
from ufs_bench.runners.cli.choices import empty_method
from ufs_bench.runners.messages import did_you_mean
from ufs_bench.scripts.check_method.contract import FAIL, KNOWN, OK, Method, examine, examine_as_estimator, load_methods
from ufs_bench.scripts.check_method.properties import CONFIGURATION, FIRST_FIT, GROUPS, PROPERTIES
from ufs_bench.scripts.core.entry import command

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


@command("check_method")
def main(options):
    """Check the method that the options name; the exit status is 1 if something fails."""
    method = _method(options)
    started = time.perf_counter()
    print(f"{method.name}: {method.config.get('target')}")
    with one_thread():
        counts = check_contract(method, options["tracebacks"])
    known = f", {counts[KNOWN]} known not to hold" if counts[KNOWN] else ""
    outcome = f"{counts[FAIL]} FAILED" if counts[FAIL] else "nothing failed"
    print(f"\n{method.name}: {outcome}, {counts[OK]} ok{known}; {time.perf_counter() - started:.0f} s")
    if counts[FAIL] and not options["tracebacks"]:
        print("tracebacks=true shows the tracebacks.")
    return int(counts[FAIL] > 0)


def _method(options):
    name, folder = options["method"], options["config_dir"] and Path(options["config_dir"])
    if name is None:
        raise ValueError("method must be given: method=NAME, a file of conf/method, or method=MODULE.CLASS.")
    if folder and not (folder / "method").is_dir():
        raise ValueError(f"config_dir={folder} must be a folder with a folder `method` in it.")
    methods = load_methods(folder)
    if name not in methods and "." in name:
        return Method(name.rpartition(".")[2], empty_method(name))
    if name not in methods:
        hint = did_you_mean(name, methods) or f" There are: {', '.join(methods)}."
        raise ValueError(f"there is no conf/method/{name}.yaml.{hint}")
    method = methods[name]
    if not isinstance(method.config, dict) or not isinstance(method.config.get("target"), str):
        raise ValueError(f"conf/method/{name}.yaml must be a mapping with a target, such as methods.mcfs.MCFS.")
    return method


if __name__ == "__main__":
    sys.exit(main())
