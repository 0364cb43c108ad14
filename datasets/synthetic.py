"""Makes samples of which it is known which features are relevant."""

import numpy as np

from datasets.base import DataError, Truth

STRUCTURES, TAILS = ("clusters", "curve"), ("gaussian", "heavy")
HARMONICS = 3  # a feature goes up and down along a curve so many times at most
COPY_NOISE = (0.1, 0.5, 1.0)  # in standard deviations of what is copied: near, correlated, loosely so
DECIMALS = 6  # values are rounded, as cos, log and exp differ between machines in the last of 16 digits
MOST = 10**8  # values of a data set that is made up


def read_synthetic(path, **options):
    """Make samples and labels; there is no file.

    Parameters
    ----------
    path : None
    **options
        Those of `check_recipe`.

    Returns
    -------
    X : ndarray of shape (samples, relevant * (1 + copies) + noise)
        Every feature with Gaussian noise has variance 1, so that its variance does not tell whether it is relevant.
    y : ndarray of shape (samples,)

    Raises
    ------
    DataError
    """
    recipe = check_recipe(options)
    rng, place = _begin(recipe)
    y, structure = (_clusters if recipe["structure"] == "clusters" else _curve)(recipe, rng)
    signal = recipe["signal"]
    found = (signal * structure + rng.standard_normal(structure.shape)) / np.sqrt(1 + signal**2)
    parts = [found]
    for number in range(recipe["copies"]):
        weight = COPY_NOISE[number % len(COPY_NOISE)]
        parts.append((found + weight * rng.standard_normal(found.shape)) / np.sqrt(1 + weight**2))
    parts.append(_noise(recipe, rng))
    X = np.empty((recipe["samples"], len(place)))
    X[:, place] = np.hstack(parts)
    return np.round(X, DECIMALS), y


def truth_of(**options):
    """Return the `Truth` of `read_synthetic`, which of its features are relevant, for the same options."""
    recipe = check_recipe(options)
    _, place = _begin(recipe)
    n_relevant = recipe["relevant"] * (1 + recipe["copies"])
    groups = place[:n_relevant].reshape(1 + recipe["copies"], recipe["relevant"]).T
    return Truth(
        relevant=tuple(sorted(place[:n_relevant].tolist())), groups=tuple(tuple(sorted(row)) for row in groups.tolist())
    )


def check_recipe(options):
    """Check the options of made-up data, and fill in those that are left out.

    Parameters
    ----------
    options : Mapping
        structure : {"clusters", "curve"}
            What the relevant features share: clusters, each with a mean of its own in every relevant feature, or a
            closed curve, of which every relevant feature is a smooth function and the classes are equal parts.
        samples : int
        relevant : int
            Number of features that each have something of their own to say.
        copies : int, default=0
            Number of noisy copies of each of them, which are relevant, too, but interchangeable with it.
        noise : int
            Number of features that are independent of all others.
        tails : {"gaussian", "heavy"}, default="gaussian"
            Heavy: a third of the noise is Gaussian, a third is Student's t of 2 degrees of freedom, and a third is
            log-normal, each with a scale of its own between .1 and 10.
        classes : int
        signal : float
            Standard deviation of what the relevant features share, in standard deviations of their own noise: the
            smaller, the more difficult.
        seed : int
            Of a stream of numbers that NumPy has frozen.  Data that differ in `signal` alone have the same noise.

    Returns
    -------
    dict

    Raises
    ------
    DataError
    """
    known = {"structure", "samples", "relevant", "copies", "noise", "tails", "classes", "signal", "seed"}
    recipe = {"copies": 0, "tails": "gaussian"} | dict(options)
    if set(recipe) != known:
        raise DataError(f"format synthetic takes {sorted(known)}; it differs in {sorted(set(recipe) ^ known)}.")
    for name, words in (("structure", STRUCTURES), ("tails", TAILS)):
        _require(recipe, name, recipe[name] in words, f"one of {', '.join(words)}")
    lows = {"samples": 2, "relevant": 1, "copies": 0, "noise": 0, "classes": 2, "seed": 0}
    for name, low in lows.items():
        high = 2**32 - 1 if name == "seed" else MOST
        _require(recipe, name, type(recipe[name]) is int and low <= recipe[name] <= high, f"an int in [{low}, {high}]")
    samples, features = recipe["samples"], recipe["relevant"] * (1 + recipe["copies"]) + recipe["noise"]
    _require(recipe, "classes", recipe["classes"] <= samples, f"at most samples={samples}")
    _require(recipe, "samples", samples * features <= MOST, f"at most {MOST // features} with {features} features")
    signal = recipe["signal"]
    number = type(signal) in (int, float) and 0 <= signal < float("inf")
    _require(recipe, "signal", number, "a finite number >= 0")
    return recipe


def _begin(recipe):
    """Return the stream of random numbers, and the column of each feature."""
    # NumPy changes no stream of RandomState any more; those of its newer generators may change.
    rng = np.random.RandomState(recipe["seed"])
    return rng, rng.permutation(recipe["relevant"] * (1 + recipe["copies"]) + recipe["noise"])


def _clusters(recipe, rng):
    """Return classes of about equal size, and their means: in every feature the same distances in another order."""
    classes = recipe["classes"]
    y = rng.permutation(np.arange(recipe["samples"]) % classes)
    levels = np.linspace(-1, 1, classes)
    levels /= np.sqrt(np.mean(levels**2))
    means = np.column_stack([rng.permutation(levels) for _ in range(recipe["relevant"])])
    return y, means[y]


def _curve(recipe, rng):
    """Return the parts of a closed curve that the samples lie on, and its features there, of variance 1."""
    n, shape = recipe["samples"], (recipe["relevant"], HARMONICS)
    at = rng.permutation((np.arange(n) + rng.random_sample(n)) / n)
    times = np.arange(1, HARMONICS + 1)
    weights = rng.uniform(0.5, 1, shape) / times
    weights /= np.sqrt((weights**2).sum(axis=1, keepdims=True) / 2)
    waves = np.cos(2 * np.pi * (at[:, None, None] * times + rng.random_sample(shape)))
    return np.floor(at * recipe["classes"]).astype(int), (weights * waves).sum(axis=2)


def _noise(recipe, rng):
    values = rng.standard_normal((recipe["samples"], recipe["noise"]))
    if recipe["tails"] == "heavy":
        values[:, 1::3] = rng.standard_t(2, values[:, 1::3].shape)
        values[:, 2::3] = np.exp(values[:, 2::3])
        values *= 10 ** rng.uniform(-1, 1, recipe["noise"])
    return values


def _require(recipe, name, condition, words):
    if not condition:
        raise DataError(f"format synthetic: {name}={recipe[name]!r} must be {words}.")
