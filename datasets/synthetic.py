"""Makes samples of which it is known which features are relevant."""

import numpy as np

from ufs_bench.datasets.base import DataError, Truth

STRUCTURES, TAILS = ("clusters", "curve", "parity", "pixels", "shift"), ("gaussian", "heavy")
PROBES, VALUES = ("independent", "correlated", "permuted"), ("real", "counts")
DEFAULTS = {"copies": 0, "tails": "gaussian", "probes": "independent", "nuisance": 0, "values": "real"}
HARMONICS = 3  # a feature goes up and down along a curve so many times at most
COPY_NOISE = (0.1, 0.5, 1.0)  # in standard deviations of what is copied: near, correlated, loosely so
BLOCK = 10  # correlated probes come in blocks of so many, with a factor that is half of their variance
NUISANCE = 2.0  # signal of the clusters that nobody asks for, whatever that of the others is
DEPTH, SPREAD, FOLD = 0.4, 0.3, 0.25  # of log rates: between samples, between values, and for a signal of 1
PIXELS = 0.1  # share of the images in which a pixel that is taken is not 0
DECIMALS = 6  # values are rounded, as cos, log and exp differ between machines in the last of 16 digits


def read_synthetic(path, **options):
    """Make samples and labels with the options of `check_recipe`; there is no file.

    X has relevant * (1 + copies) + noise features.  Every one with Gaussian noise has variance 1, so that its variance
    does not tell whether it is relevant; structure "shift" and counts are as they come.
    """
    recipe = check_recipe(options)
    rng, place = _begin(recipe)
    makers = {"clusters": _clusters, "curve": _curve, "parity": _parity, "pixels": _pixels, "shift": _shift}
    y, structure = makers[recipe["structure"]](recipe, rng)
    signal = recipe["signal"]
    if recipe["values"] == "counts":
        X = np.empty((recipe["samples"], len(place)))
        X[:, place] = _counts(recipe, structure, rng)
        return X, y
    found = signal * structure + rng.standard_normal(structure.shape)
    if recipe["structure"] != "shift":
        found /= np.sqrt(1 + signal**2)
    parts = [found]
    for number in range(recipe["copies"]):
        weight = COPY_NOISE[number % len(COPY_NOISE)]
        parts.append((found + weight * rng.standard_normal(found.shape)) / np.sqrt(1 + weight**2))
    parts.append(_permuted(recipe, found, rng) if recipe["probes"] == "permuted" else _noise(recipe, rng))
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
    """Return the options of made-up data, with those filled in that are left out; a DataError says which one is wrong.

    structure : {"clusters", "curve", "parity", "pixels", "shift"}
        What the relevant features share.  Clusters, each with a mean of its own in every relevant feature.  A closed
        curve, of which every relevant feature is a smooth function and the classes are equal parts.  Parity: clusters
        at corners of a cube, so that any two relevant features are uncorrelated and only three or more tell anything;
        classes must be a power of 2, above `relevant`.  Pixels of scikit-learn's digits, the classes being the digits.
        Shift: three classes that differ in all relevant features alike, by -1, 0 and 1, without a common variance
        (Witten & Tibshirani, J. Am. Stat. Assoc. 105, 2010, section 3.3).
    samples, classes : int
    relevant : int
        Number of features that each have something of their own to say.
    copies : int, default=0
        Number of noisy copies of each of them, which are relevant, too, but interchangeable with it.
    noise : int
        Number of features that have nothing to do with the relevant ones.
    probes : {"independent", "correlated", "permuted"}, default="independent"
        What these are: independent of all others; correlated in blocks of ten, by a factor that is half of their
        variance; or relevant features with their samples in random order, so that no marginal tells them apart.
    nuisance : int, default=0
        So many of them have two clusters of their own, as strong at every difficulty.
    tails : {"gaussian", "heavy"}, default="gaussian"
        Heavy: a third of the noise is Gaussian, a third is Student's t of 2 degrees of freedom, and a third is
        log-normal, each with a scale of its own between .1 and 10.
    values : {"real", "counts"}, default="real"
        Counts: Poisson, with a depth of each sample and a rate of each feature, as of single cells; what would be the
        value is a part of the logarithm of the rate.
    signal : float
        Standard deviation of what the relevant features share, in standard deviations of their own noise: the smaller,
        the more difficult.
    seed : int
        Of a stream of numbers that NumPy has frozen.  Data that differ in `signal` alone have the same noise.
    """
    known = {"structure", "samples", "relevant", "noise", "classes", "signal", "seed", *DEFAULTS}
    recipe = DEFAULTS | dict(options)
    if set(recipe) != known:
        raise DataError(f"format synthetic takes {sorted(known)}; it differs in {sorted(set(recipe) ^ known)}.")
    for name, words in (("structure", STRUCTURES), ("tails", TAILS), ("probes", PROBES), ("values", VALUES)):
        if recipe[name] not in words:
            raise DataError(f"format synthetic: {name}={recipe[name]!r} must be one of {', '.join(words)}.")
    classes, relevant = recipe["classes"], recipe["relevant"]
    if recipe["structure"] == "parity" and (classes & (classes - 1) or classes <= relevant):
        raise DataError(f"format synthetic: classes={classes} must be a power of 2 above relevant={relevant}.")
    special = [name for name in ("copies", "tails", "nuisance") if recipe[name] != DEFAULTS[name]]
    others = [name for name in ("probes", "values") if recipe[name] != DEFAULTS[name]]
    if special and others:
        raise DataError(f"format synthetic: {special[0]}={recipe[special[0]]!r} has no effect with {others[0]}=.")
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


def _parity(recipe, rng):
    """Return classes at corners of a cube, and products of the coordinates of the corners, all different."""
    y = rng.permutation(np.arange(recipe["samples"]) % recipe["classes"])
    masks = 1 + rng.permutation(recipe["classes"] - 1)[: recipe["relevant"]]
    return y, 1.0 - 2 * (np.bitwise_count(y[:, None] & masks) % 2)


def _pixels(recipe, rng):
    """Return some digits, and some of their pixels, with mean 0 and variance 1."""
    from sklearn.datasets import load_digits  # here, as it takes a second

    images, digits = load_digits(return_X_y=True)
    rows = np.sort(rng.permutation(len(images))[: recipe["samples"]])
    used = np.flatnonzero((images > 0).mean(axis=0) >= PIXELS)
    values = images[rows][:, np.sort(rng.permutation(used)[: recipe["relevant"]])]
    return digits[rows], (values - values.mean(axis=0)) / values.std(axis=0)


def _shift(recipe, rng):
    """Return three classes, and a mean that is 1, -1 or 0 in all relevant features."""
    y = rng.permutation(np.arange(recipe["samples"]) % 3)
    return y, np.repeat(np.array([1.0, -1.0, 0.0])[y, None], recipe["relevant"], axis=1)


def _permuted(recipe, found, rng):
    """Return relevant features in turn, the samples of each in a random order of its own."""
    return np.column_stack([rng.permutation(found[:, j % found.shape[1]]) for j in range(recipe["noise"])])


def _counts(recipe, structure, rng):
    """Return counts, of the relevant features first."""
    n, d = len(structure), recipe["relevant"] + recipe["noise"]
    log_rate = rng.normal(1, 1, d) + rng.normal(0, DEPTH, (n, 1)) + rng.normal(0, SPREAD, (n, d))
    log_rate[:, : recipe["relevant"]] += FOLD * recipe["signal"] * structure
    return rng.poisson(np.round(np.exp(log_rate), DECIMALS)).astype(float)


def _noise(recipe, rng):
    values = rng.standard_normal((recipe["samples"], recipe["noise"]))
    if recipe["probes"] == "correlated":
        factors = rng.standard_normal((recipe["samples"], -(-recipe["noise"] // BLOCK)))
        values = (values + np.repeat(factors, BLOCK, axis=1)[:, : recipe["noise"]]) / np.sqrt(2)
    if recipe["nuisance"]:
        own = rng.permutation(np.arange(recipe["samples"]) % 2) * 2.0 - 1
        signs = rng.choice([-1.0, 1.0], recipe["nuisance"])
        values[:, : recipe["nuisance"]] += NUISANCE * own[:, None] * signs
        values[:, : recipe["nuisance"]] /= np.sqrt(1 + NUISANCE**2)
    if recipe["tails"] == "heavy":
        values[:, 1::3] = rng.standard_t(2, values[:, 1::3].shape)
        values[:, 2::3] = np.exp(values[:, 2::3])
        values *= 10 ** rng.uniform(-1, 1, recipe["noise"])
    return values
