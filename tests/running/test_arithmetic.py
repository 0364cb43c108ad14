"""The arithmetic of a process, its fingerprint, and the identity that rests on it."""

import functools
import json
import os
import subprocess
import sys

import pytest

from ufs_bench.runners import arithmetic
from ufs_bench.runners.store.fingerprint import as_text, differing, fingerprint
from ufs_bench.runners.store.identity import UNKNOWN, Identity, stored_versions, to_json, versions
from ufs_bench.scripts.core.conf import ROOT

OURS = ("NPY_DISABLE_CPU_FEATURES", "OPENBLAS_CORETYPE", *arithmetic.ONE_THREAD)
FINGERPRINT = """
from ufs_bench.runners.store.fingerprint import as_text, fingerprint
print(as_text(fingerprint()))
"""
needs_avx2 = pytest.mark.skipif("avx2" not in arithmetic.flags(), reason="the kernels are those of AVX2")
needs_avx512 = pytest.mark.skipif("avx512f" not in arithmetic.flags(), reason="this processor has no AVX-512")


@functools.cache
def elsewhere(**environment):
    """Return the fingerprint of a new process, without the variables of this one."""
    kept = {name: value for name, value in os.environ.items() if name not in OURS}
    command = [sys.executable, "-W", "error::ImportWarning", "-c", FINGERPRINT]
    done = subprocess.run(command, cwd=ROOT, env=kept | environment, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_a_new_process_has_the_arithmetic_of_this_one():
    assert elsewhere() == as_text(fingerprint())


@needs_avx512
def test_loops_of_avx512_are_told_from_portable_ones():
    every = elsewhere(NPY_DISABLE_CPU_FEATURES="", OPENBLAS_CORETYPE="SkylakeX")
    assert {"exp", "log", "power", "gemm", "eigh"} <= set(differing(every, elsewhere()))


@needs_avx2
def test_another_kernel_of_blas_shows_in_products_and_not_in_exp():
    primitives = differing(elsewhere(OPENBLAS_CORETYPE="Prescott"), as_text(fingerprint()))
    assert {"gemm", "scipy_gemm", "sgemm", "gemv", "dot", "eigh", "scipy_eigh", "svd", "qr"} <= set(primitives)
    assert not {"exp", "log", "power", "libm", "argsort", "sum"} & set(primitives)


@needs_avx2
def test_loops_of_numpy_show_where_ties_are_sorted_and_not_in_products():
    above = arithmetic.portable()["NPY_DISABLE_CPU_FEATURES"]
    lower = "X86_V3" if "X86_V4" in above else "AVX2"
    primitives = differing(elsewhere(NPY_DISABLE_CPU_FEATURES=f"{above} {lower}"), as_text(fingerprint()))
    assert "argsort" in primitives and not {"gemm", "scipy_gemm", "eigh"} & set(primitives)


def test_where_numpy_is_imported_nothing_is_set(monkeypatch):
    for name in OURS:
        monkeypatch.delenv(name, raising=False)
    arithmetic.start()
    assert not set(OURS) & set(os.environ)


def test_no_variable_is_set_that_the_processor_does_not_bear(monkeypatch, tmp_path):
    (tmp_path / "cpuinfo").write_text("model name\t: An old one\nflags\t\t: fpu sse4_2 avx\n")
    monkeypatch.setattr(arithmetic, "CPUINFO", tmp_path / "cpuinfo")
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    assert list(arithmetic.portable()) == ["NPY_DISABLE_CPU_FEATURES"] and arithmetic.processor() == "An old one"
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    assert arithmetic.portable() == {}


def test_it_is_said_where_numpy_came_first(monkeypatch, tmp_path, recwarn):
    (tmp_path / "cpuinfo").write_text("flags\t\t: avx2 fma avx512f\n")
    monkeypatch.setattr(arithmetic, "CPUINFO", tmp_path / "cpuinfo")
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    for name in OURS:
        monkeypatch.delenv(name, raising=False)
    with pytest.warns(UserWarning, match="numpy was imported before ufs_bench"):
        arithmetic.warn_if_late(stacklevel=1)
    for name, value in arithmetic.portable().items():
        monkeypatch.setenv(name, value)
    arithmetic.warn_if_late(stacklevel=1)
    assert not recwarn.list


def test_a_shell_takes_the_variables_over():
    command = 'eval "$("$0" -m runners.arithmetic)" && exec env'
    done = subprocess.run(["sh", "-c", command, sys.executable], cwd=ROOT, capture_output=True, text=True, check=True)
    wanted = {**arithmetic.ONE_THREAD, **arithmetic.portable()}
    assert {f"{name}={value}" for name, value in wanted.items()} <= set(done.stdout.splitlines())


def identity(**changed):
    return Identity.stored(
        {"code_fit": "a", "code_evaluation": "b", "versions": stored_versions(to_json(versions() | changed))}
    )


def test_an_identity_names_the_primitive_that_differs():
    other = ", ".join(part if not part.startswith("exp ") else "exp 0" for part in versions()["arithmetic"].split(", "))
    assert identity().difference(identity(arithmetic=other)) == "their machine gave other bytes in exp"
    assert not identity().same_arithmetic(identity(arithmetic=other)) and not identity().same_fit(
        identity(arithmetic=other)
    )


def test_rows_without_a_fingerprint_are_of_another_identity():
    content = {name: value for name, value in versions().items() if name != "arithmetic"}
    text = to_json(content | {"blas": "openblas 0.3.30 Haswell"})
    old = Identity.stored({"code_fit": "a", "code_evaluation": "b", "versions": text})
    assert identity().difference(old) == UNKNOWN and not identity().same_arithmetic(old)


def test_the_name_of_a_processor_does_not_decide():
    here = stored_versions(to_json(versions()))
    other = to_json(json.loads(here) | {"cpu": "another", "blas": "openblas 0.3.30 Zen"})
    rows = [{"code_fit": "a", "code_evaluation": "b", "versions": text} for text in (here, other)]
    one, two = map(Identity.stored, rows)
    assert here != other and one == two and one.name == two.name and not one.difference(two)


def test_a_python_without_the_packages_says_which_has_them():
    done = subprocess.run([sys.executable, "-S", "run.py"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1 and "source .venv/bin/activate" in done.stderr and "Traceback" not in done.stderr
