"""How every method of a study is scored."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

# Fields that most protocols do without.  They are stored only where they are set: they decide which trials there are,
# not how one is scored.
OPTIONAL = ("sizes_for", "grid_values", "coarse", "budget")


@dataclass(frozen=True)
class Protocol:
    """How every method is scored: the same for all cells of a study.

    Attributes
    ----------
    name : str
    sizes : tuple of int
        Numbers of features kept.
    scaling : {"none", "minmax", "zscore", "unit_norm"}
    restarts : int
        K-means starts per feature set.
    seed : int
        Seed of the K-means starts and of the methods' own random starts.
    nmi : {"geometric", "max", "min", "arithmetic"}
        What mutual information is divided by.
    max_iter : int
        Lloyd steps at most.
    sizes_for : Mapping, optional
        Data set -> its own sizes, in place of `sizes`.
    grid_values : tuple of float, optional
        What every parameter in a method's grid is searched over, in place of the values of the method's file.
    coarse : bool, default=False
        Search a part of the grid: the default, and each parameter alone at the values a quarter and three quarters
        along its list.
    budget : int, default=0
        Above 0, every method gets at most so many points, its default always among them, and a parameter whose range
        leaves out some of `grid_values` keeps the values of its file.  Of a larger grid a fixed sample is searched.
    """

    name: str
    sizes: tuple[int, ...]
    scaling: str
    restarts: int
    seed: int
    nmi: str
    max_iter: int
    sizes_for: Mapping = field(default_factory=dict)
    grid_values: tuple[float, ...] = ()
    coarse: bool = False
    budget: int = 0

    def __post_init__(self):
        object.__setattr__(self, "sizes", _checked_sizes("sizes", self.sizes))
        own = {name: _checked_sizes(f"sizes_for.{name}", sizes) for name, sizes in (self.sizes_for or {}).items()}
        object.__setattr__(self, "sizes_for", own)
        object.__setattr__(self, "grid_values", tuple(self.grid_values or ()))
        if not isinstance(self.coarse, bool):
            raise ValueError(f"protocol.coarse={self.coarse!r} must be true or false.")
        for name, low in (("restarts", 1), ("seed", 0), ("max_iter", 1), ("budget", 0)):
            if not _is_whole(getattr(self, name), low):
                raise ValueError(f"protocol.{name}={getattr(self, name)!r} must be a whole number, {low} or more.")
        for name, options in (
            ("scaling", ("none", "minmax", "zscore", "unit_norm")),
            ("nmi", ("geometric", "max", "min", "arithmetic")),
        ):
            if getattr(self, name) not in options:
                raise ValueError(f"protocol.{name}={getattr(self, name)!r} must be one of {', '.join(options)}.")

    @classmethod
    def from_json(cls, text):
        """The protocol that a trial's row or a study's ``protocol.json`` holds.

        Parameters
        ----------
        text : str

        Returns
        -------
        Protocol

        Raises
        ------
        ValueError
            For what is no JSON, has other fields than a protocol, or a value that no protocol may have.
        """
        content = json.loads(text)
        if not isinstance(content, dict):
            raise ValueError(f"a protocol must be a mapping of its fields, not {content!r}.")
        try:
            return cls(**content)
        except TypeError as error:
            raise ValueError(f"these are not the fields of a protocol: {', '.join(content)} ({error}).") from error

    def stored(self):
        """The fields as JSON stores them: the optional ones only where they are set."""
        return {name: _plain(value) for name, value in vars(self).items() if name not in OPTIONAL or value}

    def sizes_on(self, dataset):
        """Numbers of features to keep on a data set."""
        return self.sizes_for.get(dataset, self.sizes)

    def differences(self, other):
        """Where two protocols differ.

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
        """What to add to ``protocol=NAME`` on the command line, this one being NAME's, to have another protocol.

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
    if not isinstance(sizes, Sequence) or not sizes or not all(_is_whole(size, 1) for size in sizes):
        raise ValueError(f"protocol.{name}={sizes} must be a list of whole numbers, 1 or more, such as [50, 100].")
    return tuple(sorted(set(sizes)))


def _is_whole(value, low):
    return isinstance(value, int) and not isinstance(value, bool) and value >= low
