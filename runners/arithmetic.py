"""Chooses the arithmetic of a process before numpy is imported; this module imports none of it.

numpy and OpenBLAS look at the processor, and take other loops on one with AVX-512: exp, log and powers differ in their
last digit, and so do products of matrices.  *Portable* arithmetic keeps them to the loops that every x86 processor with
AVX2 has, so that all of these give the same bytes.  Processes that are started inherit it.
`runners.store.fingerprint` says what a process really computes.

    eval "$(python -m runners.arithmetic)"    in a shell, for a notebook that imports numpy by itself
"""

import os
import platform
import shlex
import sys
import warnings
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
CPUINFO = Path("/proc/cpuinfo")
# All that numpy dispatches above AVX2, by the names that it has from 2.4 on, and had before.
ABOVE_AVX2 = {
    True: "X86_V4 AVX512_ICL AVX512_SPR",
    False: "AVX512F AVX512CD AVX512_KNL AVX512_KNM AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL",
}


def start():
    """Make the arithmetic of this process portable, with one thread of BLAS, where numpy is not imported yet.

    A variable of numpy, OpenBLAS or OpenMP that is set already stays.  Nothing is set where numpy is imported already:
    the processes that this one starts would compute otherwise than itself.  Without numpy this process ends, with a
    line that says which Python has it.
    """
    try:
        version("numpy")
    except PackageNotFoundError:
        sys.exit(
            f"error: {sys.executable} has no numpy: this is not the Python of the suite. Take that of .venv, by "
            "`source .venv/bin/activate`; `make install` makes it."
        )
    if "numpy" not in sys.modules:
        for name, value in {"OMP_NUM_THREADS": "1", **portable()}.items():
            os.environ.setdefault(name, value)


def warn_if_late(stacklevel):
    """Warn where numpy was imported before `start` could keep it from loops that other processors lack."""
    if "avx512f" in flags() and not portable().keys() <= os.environ.keys():
        warnings.warn(
            "numpy was imported before ufs_bench, and computes with AVX-512: the bytes are not those of run.py, and "
            "results have an identity of their own. Import ufs_bench first in a new process.",
            stacklevel=stacklevel + 1,
        )


def portable():
    """Return the variables that make arithmetic portable on this machine; none where it is no x86 processor."""
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return {}
    new = tuple(map(int, version("numpy").split(".")[:2])) >= (2, 4)
    variables = {"NPY_DISABLE_CPU_FEATURES": ABOVE_AVX2[new]}
    # OpenBLAS does not look whether the processor has what a kernel needs that is asked for by name.
    return variables | ({"OPENBLAS_CORETYPE": "Haswell"} if {"avx2", "fma"} <= flags() else {})


def flags():
    """Return the instructions that the processor has, by the names of Linux; none are known elsewhere."""
    return set(_of_processor("flags").split())


def processor():
    """Return the processor's name and the widest instructions that it has, for people."""
    widest = next((name for flag, name in (("avx512f", "AVX-512"), ("avx2", "AVX2")) if flag in flags()), "")
    return ", ".join(filter(None, [_of_processor("model name") or platform.processor() or platform.machine(), widest]))


def _of_processor(name):
    try:
        lines = CPUINFO.read_text().splitlines()
    except OSError:
        return ""
    return next((line.partition(":")[2].strip() for line in lines if line.partition(":")[0].strip() == name), "")


if __name__ == "__main__":
    for variable, value in {**ONE_THREAD, **portable()}.items():
        print(f"export {variable}={shlex.quote(value)}")
