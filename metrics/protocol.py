"""The protocol by which every method of a study is scored."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from numbers import Real
from typing import Any

# Fields that most protocols do not set.  They are stored only where they are set.
OPTIONAL = ("sizes_for", "scaling_for", "grid_values", "coarse", "budget", "seeds")
# Fields that most protocols leave as they are, and what they are then.  They are stored only where they are not, and
# those of K-means count in the key of a trial only then.
USUAL: dict[str, Any] = {"starts": "random", "replicates": 1, "seeds": 1, "clusters": "classes"}

MOST = 2**31 - 1
# Field -> its least and its largest value.
WHOLE = (
    ("restarts", 1, 10**5),
    ("seed", 0, 2**63 - 1),
    ("max_iter", 1, MOST),
    ("budget", 0, MOST),
    ("replicates", 1, 10**4),
    ("seeds", 1, 10**4),
)
CHOICES = {
    "scaling": ("none", "minmax", "zscore", "unit_norm", "unit_features"),
    "nmi": ("geometric", "max", "min", "arithmetic"),
    "starts": ("random", "kmeans++"),
    "clusters": ("classes", "half", "twice"),
}


@dataclass(frozen=True)
class Protocol:
    """The protocol by which every method is scored, the same for all cells of a study.

    Attributes
    ----------
    name : str
    sizes : tuple of int
        Numbers of features kept.
    scaling : {"none", "minmax", "zscore", "unit_norm", "unit_features"}
    restarts : int
        K-means starts per feature set.
    seed : int
        Seed of the K-means starts and of the methods' own random starts.
    nmi : {"geometric", "max", "min", "arithmetic"}
        The mean of the entropies that mutual information is divided by.
    max_iter : int
        Lloyd steps at most.
    sizes_for : Mapping, optional
        Data set -> its own sizes, in place of `sizes`.
    scaling_for : Mapping, optional
        Method -> the scaling of the data that it is fitted on.  K-means and all measures see those of `scaling`.
    grid_values : tuple of float, optional
        The values of every parameter in a method's grid, in place of those of the method's file.
    coarse : bool, default=False
        Search a part of the grid: the default, and each parameter alone at the values a quarter and three quarters
        along its list.
    budget : int, default=0
        Above 0, every method gets at most so many points, its default always among them, and a parameter whose range
        leaves out some of `grid_values` keeps the values of its file.  Of a larger grid a fixed sample is searched.
    starts : {"random", "kmeans++"}, default="random"
        How the first centres of K-means are drawn (`metrics.kmeans.kmeans_restarts`).
    replicates : int, default=1
        Starts of each restart, of which the one with the smallest sum of squares is kept.
    seeds : int, default=1
        A method with a random part is fitted so often at every point, with `seed` and the seeds that follow it, and
        scored by the mean.  The starts of K-means do not change with it.
    clusters : {"classes", "half", "twice"}, default="classes"
        How many clusters the methods and K-means are told to look for: as many as there are classes, half as many
        (rounded up, at least 2), or twice as many.  Of data without labels their own number takes the place of classes.
    """

    name: str
    sizes: tuple[int, ...]
    scaling: str
    restarts: int
    seed: int
    nmi: str
    max_iter: int
    sizes_for: Mapping = field(default_factory=dict)
    scaling_for: Mapping = field(default_factory=dict)
    grid_values: tuple[float, ...] = ()
    coarse: bool = False
    budget: int = 0
    starts: str = USUAL["starts"]
    replicates: int = USUAL["replicates"]
    seeds: int = USUAL["seeds"]
    clusters: str = USUAL["clusters"]

    def __post_init__(self):
        if not isinstance(self.name, str):
            raise ValueError(f"protocol.name={self.name!r} must be a text.")
        object.__setattr__(self, "sizes", _checked_sizes("sizes", self.sizes))
        own = {} if self.sizes_for is None else self.sizes_for
        if not isinstance(own, Mapping):
            raise ValueError(f"protocol.sizes_for={own!r} must be a mapping of data sets, such as {{usps: [50, 80]}}.")
        own = {name: _checked_sizes(f"sizes_for.{name}", sizes) for name, sizes in own.items()}
        object.__setattr__(self, "sizes_for", own)
        object.__setattr__(self, "scaling_for", _checked_scalings(self.scaling_for))
        object.__setattr__(self, "grid_values", _checked_values(self.grid_values))
        for name, usual in USUAL.items():
            if getattr(self, name) is None:  # as an override says that a protocol's own value is not meant
                object.__setattr__(self, name, usual)
        if not isinstance(self.coarse, bool):
            raise ValueError(f"protocol.coarse={self.coarse!r} must be true or false.")
        for name, low, high in WHOLE:
            if not _is_whole(getattr(self, name), low, high):
                raise ValueError(
                    f"protocol.{name}={getattr(self, name)!r} must be a whole number, {low} or more, at most {high}."
                )
        for name, options in CHOICES.items():
            value = getattr(self, name)
            if not isinstance(value, str) or value not in options:
                raise ValueError(f"protocol.{name}={value!r} must be one of {', '.join(options)}.")

    @classmethod
    def from_json(cls, text):
        """Return the protocol that the row of a trial, or ``protocols.json`` of shipped studies, holds.

        Parameters
        ----------
        text : str

        Returns
        -------
        Protocol

        Raises
        ------
        ValueError
            For a text that is not JSON, has other fields than a protocol, or a value that no protocol may have.
        """
        try:
            content = json.loads(text)
        except RecursionError as error:
            raise ValueError("a protocol is not nested so deep.") from error
        if not isinstance(content, dict):
            raise ValueError(f"a protocol must be a mapping of its fields, not {content!r}.")
        try:
            return cls(**content)
        except TypeError as error:
            raise ValueError(f"these are not the fields of a protocol: {', '.join(content)} ({error}).") from error

    def stored(self):
        """Return the fields as JSON stores them: the optional ones only where they are set."""
        return {name: _plain(value) for name, value in self.scoring().items()} | {
            name: _plain(value)
            for name, value in vars(self).items()
            if name in OPTIONAL and value and USUAL.get(name) != value
        }

    def scoring(self):
        """Return the fields that a score rests on; the optional ones besides decide which trials there are."""
        return {name: value for name, value in vars(self).items() if name not in OPTIONAL and USUAL.get(name) != value}

    def sizes_on(self, dataset):
        """Return the numbers of features to keep on a data set."""
        return self.sizes_for.get(dataset, self.sizes)

    def scaling_of(self, method):
        """Return the scaling of the data that a method is fitted on."""
        return self.scaling_for.get(method, self.scaling)

    def clusters_of(self, n_classes):
        """Return the number of clusters that is looked for where there are so many classes."""
        return {"classes": n_classes, "half": max(-(-n_classes // 2), 2), "twice": 2 * n_classes}[self.clusters]

    def differences(self, other):
        """Return the fields in which two protocols differ.

        Parameters
        ----------
        other : Protocol

        Returns
        -------
        dict
            Field -> (value here, value there), as they are stored; None where an optional one is not set.
        """
        mine, theirs = self.stored(), other.stored()
        pairs = {name: (mine.get(name), theirs.get(name)) for name in {**mine, **theirs}}
        return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}

    def overrides(self, wanted):
        """Return the overrides that turn this protocol into another one, for a command line with ``protocol=NAME``.

        Parameters
        ----------
        wanted : Protocol

        Returns
        -------
        list of str
        """
        differences = dict(sorted(self.differences(wanted).items()))
        lines = [f"protocol.{name}=null" for name, (_, value) in differences.items() if value is None]
        for name, (mine, value) in differences.items():
            if value is not None:
                text = json.dumps(value).replace(" ", "").replace('"', "")
                lines.append(f"{'+' if mine is None else ''}protocol.{name}={text}")
        return lines


def _plain(value):
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    return list(value) if isinstance(value, tuple) else value


def _checked_sizes(name, sizes):
    if not isinstance(sizes, Sequence) or not sizes or not all(_is_whole(size, 1, MOST) for size in sizes):
        raise ValueError(f"protocol.{name}={sizes} must be a list of whole numbers, 1 or more, such as [50, 100].")
    return tuple(sorted(set(sizes)))


def _checked_scalings(scalings):
    scalings = {} if scalings is None else scalings
    if not isinstance(scalings, Mapping):
        raise ValueError(f"protocol.scaling_for={scalings!r} must be a mapping of methods, such as {{dgufs: none}}.")
    for method, scaling in scalings.items():
        if scaling not in CHOICES["scaling"]:
            options = ", ".join(CHOICES["scaling"])
            raise ValueError(f"protocol.scaling_for.{method}={scaling!r} must be one of {options}.")
    return dict(scalings)


def _checked_values(values):
    values = () if values is None else values
    right = isinstance(values, Sequence) and not isinstance(values, str)
    if not right or not all(isinstance(value, Real) and not isinstance(value, bool) for value in values):
        raise ValueError(f"protocol.grid_values={values!r} must be a list of numbers, such as [0.1, 1, 10].")
    if not all(isfinite(value) for value in values):
        raise ValueError(f"protocol.grid_values={list(values)} must be finite.")
    if twice := same_values(values):
        raise ValueError(f"protocol.grid_values has {twice[0]} and {twice[1]}, which are the same value: remove one.")
    return tuple(values)


def same_values(values):
    """Return the first two equal values of a list, such as 1 and 1.0, or 0.0 and -0.0; None where all differ."""
    for place, value in enumerate(values):
        for other in values[:place]:
            if value == other and isinstance(value, bool) == isinstance(other, bool):
                return other, value
    return None


def _is_whole(value, low, high):
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high
