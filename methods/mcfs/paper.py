"""The choices of MCFS where the paper leaves something open."""

from ufs_bench.methods.core.spectral import smooth_vectors

bandwidth = None  # the mean length of the edges
last_knot = False  # takes the first knot with m coefficients, which does not depend on the largest size
coordinates = smooth_vectors
