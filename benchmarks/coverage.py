"""A simulation of what the statistics of the plan promise: ``python -m benchmarks.coverage``.

Gains of as many methods as there are, by two scores, are drawn on the data sets of `experiment=fair` from a normal and
from a skewed distribution.  Its parts (between families, within them, shared by all methods) are those of the shipped
study on the data that the plan was written with; the plan's own numbers are of the study `fair_earlier` at ee2f1ea1,
which had nearly the same parts.  It prints how often the intervals hold the true mean, how often `step_down` finds a
gain that is not there, and how often one of 2 points.  The last two also with single random rankings in the place of
all methods, by the shipped scores of the new data.
"""

import numpy as np

from ufs_bench.metrics.study import ALL, RANDOM
from ufs_bench.metrics.study.families import family_means, step_down, t_intervals
from ufs_bench.metrics.study.frames import of_kmeans
from ufs_bench.runners.cli.boundary import boundary
from ufs_bench.scripts.core.conf import family_of
from ufs_bench.scripts.core.entry import plain_options
from ufs_bench.scripts.core.study import Study
from ufs_bench.scripts.core.text import pipes
from ufs_bench.scripts.findings.plan import CONFIRMATORY, SCORES, WEIGHTS, curves, datasets_of
from ufs_bench.scripts.rank.choice import choose

STUDY = "reference/fair"
GAIN = 2.0  # points
LEVEL = 0.05
SHAPES = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    # Mean 0, variance 1, skewness 1, which nine of ten columns of the shipped study do not reach; all to the same side.
    "skewed": lambda rng, shape: rng.gamma(4.0, size=shape) / 2 - 2.0,
}


def parts_of(gains, families):
    """Return the variances between families, within them, and the share of both that all methods have in common.

    Moments of a one-way layout, the median over the columns of `gains`; a negative estimate counts as 0.
    """
    names, counts = np.unique(families, return_counts=True)
    n, k = len(families), len(names)
    means = np.array([gains[families == name].mean(axis=0) for name in names])
    inside = sum(((gains[families == name] - mean) ** 2).sum(axis=0) for name, mean in zip(names, means, strict=True))
    within = inside / (n - k)
    between = (counts[:, None] * (means - gains.mean(axis=0)) ** 2).sum(axis=0) / (k - 1)
    size = (n - (counts**2).sum() / n) / (k - 1)
    correlation = np.corrcoef(gains, rowvar=False)
    shared = np.median(correlation[np.triu_indices_from(correlation, 1)])
    return float(np.median(np.maximum((between - within) / size, 0))), float(np.median(within)), float(max(shared, 0))


def drawn(rng, draw, families, n_columns, parts, between=True):
    """Return gains of mean 0 of shape (n_datasets, n_columns)."""
    variance, within, shared = parts
    names, of = np.unique(families, return_inverse=True)

    def effects(n_rows, size):
        own, common = draw(rng, (n_rows, n_columns)), draw(rng, (n_rows, 1))
        return np.sqrt(size) * (np.sqrt(1 - shared) * own + np.sqrt(shared) * common)

    return between * effects(len(names), variance)[of] + effects(len(families), within)


def simulate(families, n_columns, parts, n_studies, seed=0):
    """Yield a row of texts for each distribution, with the shares over studies."""
    for name, draw in SHAPES.items():
        rng = np.random.default_rng(seed)
        held, widths, false, noise_only, power = [], [], [], [], []
        for _ in range(n_studies):
            gains = drawn(rng, draw, families, n_columns, parts)
            means = family_means(gains, families)
            _, low, high = t_intervals(means)
            held.append(np.mean((low <= 0) & (high >= 0)))
            widths.append(np.median(high - low) / 2)
            false.append(step_down(means).min() <= LEVEL)
            alone = drawn(rng, draw, families, n_columns, parts, between=False)
            noise_only.append(step_down(family_means(alone, families)).min() <= LEVEL)
            gaining = gains.copy()
            gaining[:, 0] += GAIN
            power.append(step_down(family_means(gaining, families))[0] <= LEVEL)
        shares = [np.mean(one) for one in (held, false, noise_only, power)]
        yield [name, *(f"{share:.3f}" for share in shares), f"{np.mean(widths):.2f}"]


def rankings_of(study, datasets):
    """Return what each random ranking gains over the mean of the others: (n_datasets, n_draws, n_scores), in points."""
    rows = of_kmeans(study.summary)
    rows = rows[(rows["method"] == RANDOM) & rows["dataset"].isin(datasets) & rows["n_selected"].isin(WEIGHTS)]
    weights = rows["n_selected"].map(WEIGHTS)
    columns = [f"{score}_mean" for score in SCORES]
    keys = [rows["dataset"], rows["params"]]
    scores = rows[columns].mul(weights, axis=0).groupby(keys).sum().div(weights.groupby(keys).sum(), axis=0)
    scores = np.array([scores.loc[name].to_numpy() for name in datasets])
    return (scores - scores.mean(axis=1, keepdims=True)) * scores.shape[1] / (scores.shape[1] - 1)


def with_rankings(gains, families, n_methods, n_studies, seed=0):
    """Return how often any of so many methods "gains" or "loses", each a ranking drawn anew on every data set.

    Also how often the first of them is found where it gains `GAIN` points more.
    """
    rng, false, power = np.random.default_rng(seed), [], []
    for _ in range(n_studies):
        picks = rng.integers(gains.shape[1], size=(len(gains), n_methods))
        own = gains[np.arange(len(gains))[:, None], picks].reshape(len(gains), -1)
        false.append(step_down(family_means(own, families)).min() <= LEVEL)
        own[:, 0] += GAIN
        power.append(step_down(family_means(own, families))[0] <= LEVEL)
    return np.mean(false), np.mean(power)


def main(arguments=None):
    """Print the table."""
    options = plain_options(__doc__, {"studies": 1000}, arguments)
    study, new = Study.open("results", STUDY), datasets_of(CONFIRMATORY)
    old = [name for name in choose(study).datasets if name not in new]  # those that the plan was written with
    gains = curves(study).loc[old].drop(columns=[ALL, RANDOM], level=0).dropna(axis=1)
    own = np.array([family_of(name) for name in gains.index])
    parts = parts_of(gains.to_numpy(), own)
    print(
        f"Variances in squared points, from {len(own)} data sets: between families {parts[0]:.1f}, "
        f"within {parts[1]:.1f}; correlation of two columns {parts[2]:.2f}."
    )
    print(f"{gains.shape[1]} columns (methods by score), {options.studies} simulated studies.\n")
    rows = []
    for title, families in (("new data", np.array([*new.values()])), ("old and new", np.array([*own, *new.values()]))):
        design = f"{title}: {len(families)} sets, {len(set(families))} families"
        rows += [[design, *row] for row in simulate(families, gains.shape[1], parts, options.studies)]
    head = ["Data", "Variation", "Holds", "False gain", "The same, no families",
            f"Finds {GAIN:g} points", "Half-width"]  # fmt: skip
    print(pipes([head, *rows]))
    n_methods, drawn_gains = gains.shape[1] // len(SCORES), rankings_of(study, list(new))
    false, power = with_rankings(drawn_gains, np.array([*new.values()]), n_methods, options.studies)
    print(f"\nRandom rankings in the place of {n_methods} methods, one of {drawn_gains.shape[1]} on each new data set:")
    print(
        f'any "gains" or "loses" in {false:.3f} of the studies; one with {GAIN:g} points more is found in {power:.3f}.'
    )


if __name__ == "__main__":
    with boundary():
        main()
