"""A fingerprint of a process's arithmetic: digests of what its primitives give on fixed arrays.

The name of a processor, and of the kernel that OpenBLAS chose for it, do not say which bytes come out; these do.
"""

import functools
import hashlib
import math

import numpy as np
import scipy.linalg as sl
from threadpoolctl import threadpool_limits

DIGITS = 6  # of a digest
# Above 64 to 128 rows LAPACK goes to blocks; a long side that is a multiple of no register meets the ends of loops.
ROWS, COLUMNS, LONG = 131, 211, 2003


@functools.cache
def fingerprint():
    """Return name -> digest of each primitive, as this process computes it, with one thread of BLAS."""
    with threadpool_limits(1):
        return {name: _digest(value) for name, value in _primitives()}


def differing(ours, theirs):
    """Return the names of the primitives that differ between two texts of `as_text`."""
    ours, theirs = (dict(part.split(" ") for part in text.split(", ") if part) for text in (ours, theirs))
    return [name for name in {**ours, **theirs} if ours.get(name) != theirs.get(name)]


def as_text(digests):
    """Return a fingerprint as one line."""
    return ", ".join(f"{name} {digest}" for name, digest in digests.items())


def _primitives():
    """Yield the name of each primitive and what it gives."""
    x, A, B = numbers(LONG), numbers(ROWS, COLUMNS), numbers(COLUMNS, ROWS)
    positive = np.abs(x) + 0.01
    yield "exp", np.exp(x)
    yield "log", np.log(positive)
    yield "power", positive**-0.3
    yield "cos", np.cos(x)
    yield "libm", [function(value) for value in positive.tolist() for function in (math.exp, math.log, math.cbrt)]
    yield "sum", [x.sum(), *A.sum(axis=0), *A.sum(axis=1), A.mean()]
    yield "norm", [np.linalg.norm(x), *np.linalg.norm(A, axis=1)]
    yield "einsum", np.einsum("ij,ij->i", A, A)
    yield "dot", [x[k:] @ x[: LONG - k] for k in range(8)]
    yield "gemv", [*(A @ x[:COLUMNS]), *(A.T @ x[:ROWS])]
    yield "gemm", A @ B
    yield "gemm_t", [A.T @ B.T, B @ A]
    yield "syrk", A @ A.T
    yield "sgemm", A.astype(np.float32) @ B.astype(np.float32)
    yield "argsort", np.argsort((1000 * x).astype(int) % 50)
    S = A @ A.T
    K = S + np.eye(ROWS)
    yield "scipy_gemm", sl.blas.dgemm(1.0, A, B)
    yield "scipy_eigh", sl.eigh(S)
    yield "eigh", np.linalg.eigh(S)
    yield "cholesky", [sl.cholesky(K), np.linalg.cholesky(K)]
    yield "lu", sl.lu_factor(K)[0]
    yield "solve", [np.linalg.solve(K, A), sl.cho_solve(sl.cho_factor(K), A)]
    yield "qr", [sl.qr(B, mode="economic")[0], *sl.qr(A, mode="r", pivoting=True)]
    yield "svd", sl.svd(A[:80], full_matrices=False)


def numbers(*shape):
    """Return numbers in [-1, 1) that look random, from arithmetic of whole numbers."""
    k = np.arange(math.prod(shape), dtype=np.uint64) + np.uint64(1)
    k = k * np.uint64(0x9E3779B97F4A7C15)
    k = (k ^ (k >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    return ((k ^ (k >> np.uint64(27))) >> np.uint64(11)).astype(float).reshape(shape) / 2.0**52 - 1


def _digest(value):
    found = hashlib.sha256()
    for part in value if isinstance(value, (list, tuple)) else [value]:
        found.update(np.ascontiguousarray(part).tobytes())
    return found.hexdigest()[:DIGITS]
