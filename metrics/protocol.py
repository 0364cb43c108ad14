"""How every method of a study is scored."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

# What a protocol may leave out, and is not stored where it does.
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

    def stored(self):
        """The fields as they are stored: the optional ones only where they are set."""
        return {name: value for name, value in vars(self).items() if name not in OPTIONAL or value}

    def sizes_on(self, dataset):
        """Numbers of features to keep on a data set."""
        return self.sizes_for.get(dataset, self.sizes)


def _checked_sizes(name, sizes):
    if not isinstance(sizes, Sequence) or not sizes or not all(_is_whole(size, 1) for size in sizes):
        raise ValueError(f"protocol.{name}={sizes} must be a list of whole numbers, 1 or more, such as [50, 100].")
    return tuple(sorted(set(sizes)))


def _is_whole(value, low):
    return isinstance(value, int) and not isinstance(value, bool) and value >= low
