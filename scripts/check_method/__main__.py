"""``python -m scripts.check_method --help``."""

import sys
import time
from pathlib import Path

from ufs_bench.metrics.threads import one_thread
from ufs_bench.runners.cli.choices import empty_method
from ufs_bench.runners.words import did_you_mean
from ufs_bench.scripts.check_method import check_contract
from ufs_bench.scripts.check_method.contract import FAIL, KNOWN, OK, Method, load_methods
from ufs_bench.scripts.core.entry import command


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
