"""The state of a restart of K-means, and the limits of its bounds, for `metrics.elkan`."""

from typing import NamedTuple

import numpy as np


class Limits(NamedTuple):
    """The bounds that separate certain labels from open ones, for samples of norm at most 1, from `metrics.kmeans`."""

    tie: float  # squared distances that differ by no more are equal
    relative: float  # error of a float32 distance, as a share of it
    absolute: float  # and the part of the error that does not depend on the distance
    product: float  # error of a squared distance that comes from a float32 product
    margin: float  # the centre that is nearest by more than this is nearest in the definition too
    blur: float  # error of a squared distance in float64 to a working centre, against the definition


class State(NamedTuple):
    """The state of one restart."""

    labels: np.ndarray
    members: np.ndarray  # clusters that the present centres are the means of; -1 at the start
    counts: np.ndarray  # the number of members
    sums: np.ndarray  # the sums of members, kept up by differences
    added: np.ndarray  # number of additions to each sum
    centres: np.ndarray  # working centres: the sums over the counts
    centres32: np.ndarray
    moved: np.ndarray  # distances that the centres moved in the last step
    upper: np.ndarray  # bound of the distance to the own centre, with the margin
    means: np.ndarray  # means of members by the definition, where known
    known: np.ndarray

    @classmethod
    def of(cls, X, points, n_clusters):
        """Return the arrays of a state, which `metrics.elkan` fills."""
        n, coordinates = len(X), (n_clusters, points.shape[1])
        return cls(
            labels=np.empty(n, np.int64),
            members=np.empty(n, np.int64),
            counts=np.empty(n_clusters, np.int64),
            sums=np.empty(coordinates),
            added=np.empty(n_clusters),
            centres=np.empty(coordinates),
            centres32=np.empty(coordinates, np.float32),
            moved=np.empty(n_clusters, np.float32),
            upper=np.empty(n, np.float32),
            means=np.empty((n_clusters, X.shape[1])),
            known=np.empty(n_clusters, np.bool_),
        )
