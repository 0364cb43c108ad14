"""Claims of the DGUFS paper: sweeps, the l0 penalty on M, fewer features, sensitivity, compact pixels."""

from functools import partial
from itertools import product
from unittest import mock

import numpy as np
from scipy.ndimage import convolve

from methods import DGUFS, MCFS, NDFS, LaplacianScore, MaxVariance, MinNorm
from methods.core.graphs import knn_graph
from methods.dgufs import released
from metrics.clustering import accuracy as label_accuracy
from scripts.claims.core.claim import read_claims
from scripts.claims.core.numbers import SIZE, accuracy, is_insensitive, minmax, random_sets, sensitivity, settled
from scripts.core.published import load_published

ALPHAS, BETAS = (1e1, 1e2, 1e3, 1e4, 1e5), (0.1, 0.3, 0.5, 0.7, 0.9)  # the paper's grid
BELOW = (3e-3, 1e-2)  # values of alpha for which L does not stay zero
LIMIT, AGREE = 50, 1e-2
SWEEPS = 100  # those of the released program
SIZES = (50, 100, 150, 200, 250, 300)
DRAWS = 10_000


def states(X, n_clusters, alpha, beta):
    """Return the states of the released program, with the start."""
    problem = released.Problem(X, knn_graph(X, 5, "binary", include_self=True), SIZE, n_clusters, alpha, beta)
    found = [problem.start({})]
    for _ in range(SWEEPS):
        found.append(problem.sweep(found[-1]))
        if not np.isfinite(found[-1].value):
            break
    return found


def measure_iterations(data):
    X = minmax(data)
    for label, alpha in (("in the grid", 10.0), ("below the grid", 1e-2)):
        found = states(X, data.n_classes, alpha, 0.9)
        objective = np.array([state.value for state in found])
        gaps = found[min(LIMIT, len(found) - 1)].residual, found[-1].residual
        yield f"released, alpha {label}", _ended(objective, gaps, len(found[-1].values), len(found) - 1)
    model = DGUFS(SIZE, n_clusters=data.n_classes, solver="normalized", random_state=0).fit(X)
    yield "normalized", _ended(model.trace_, (0.0, 0.0), data.n_classes, model.n_iter_)


def _ended(objective, gaps, rank, sweeps):
    numbers = {"within 1e-3": settled(objective), "gap of the copies after 50": gaps[0], "after 100": gaps[1]}
    return {**numbers, "rank of L": rank, "our stop": sweeps}


def binary(Q, gamma):
    """Return M by equation (11)."""
    return (Q >= 0.5).astype(float)


def measure_l0(data):
    X = minmax(data)
    # M, as released, by equation (11), and relaxed to [0, 1].
    rules = {"": released.l0_prox, ", binary": binary, ", no penalty": lambda Q, gamma: np.clip(Q, 0, 1)}
    for label, alphas, betas in (("in the grid", (1e1, 1e3, 1e5), (0.1, 0.5, 0.9)), ("below the grid", BELOW, (0.9,))):
        scores, sweeps, clusters = {}, {}, []
        for name, rule in rules.items():
            with mock.patch.object(released, "l0_prox", rule):
                runs = [states(X, data.n_classes, alpha, beta) for alpha, beta in product(alphas, betas)]
            labels = [released.labels_of(run[-1], data.n_classes) for run in runs]
            found = [100 * label_accuracy(data.y, own) for own in labels]
            best = int(np.argmax(found))
            clusters.append(len(np.unique(labels[best])))
            scores[f"ACC{name}"] = found[best]
            sweeps[f"sweep{name}"] = settled(np.array([state.value for state in runs[best]]))
        for word, numbers in (("better", scores), ("faster", sweeps)):
            yield f"released, {word}, alpha {label}", {**numbers, "most clusters": max(clusters)}


def l0_is_better(numbers):
    """Return True where it has more ACC, or fewer sweeps, than both others; None where all three give one cluster."""
    if numbers["most clusters"] == 1:
        return None
    ours, *others = (value for name, value in numbers.items() if name != "most clusters")
    return ours > max(others) if "ACC" in numbers else ours < min(others)


def measure_fewer_published():
    """Yield ranks of DGUFS's size among the selecting rows of each published column; 1 is the fewest."""
    table = load_published()
    table = table[(table["paper"] == "dgufs") & table["n_features"].notna()]
    shares, below = [], 0
    rng = np.random.default_rng(0)
    drawn = np.zeros(DRAWS)
    for _, column in table.groupby(["dataset", "metric"]):
        sizes, ours = column["n_features"].to_numpy(float), (column["method"] == "dgufs").to_numpy()
        share = np.array(
            [((sizes < size).sum() + ((sizes == size).sum() - 1) / 2) / (len(sizes) - 1) for size in sizes]
        )
        shares.append(share[ours][0])
        below += sizes[ours][0] < np.median(sizes[~ours])
        drawn += rng.choice(share, DRAWS)
    p = (1 + np.count_nonzero(drawn <= sum(shares) + 1e-9)) / (1 + DRAWS)
    yield "as printed", {"columns": len(shares), "below the median": below, "mean rank share": np.mean(shares), "p": p}


def measure_fewer(data):
    if data == "published":
        yield from measure_fewer_published()
        return
    X, c = minmax(data), data.n_classes
    rivals = [LaplacianScore(), MCFS(max(SIZES), n_clusters=c), NDFS(n_clusters=c, random_state=0)]
    orders = [rival.fit(X).ranking_ for rival in rivals]
    others = [best_size(X, data.y, lambda m, order=order: order[:m]) for order in orders]
    chance = [best_size(X, data.y, lambda m, order=order: order[:m]) for order in random_sets(X.shape[1], max(SIZES))]
    for solver in ("released", "normalized"):
        fits = {m: DGUFS(m, n_clusters=c, solver=solver, random_state=0).fit(X) for m in SIZES}
        own = best_size(X, data.y, lambda m, fits=fits: fits[m].subset(m))
        share = np.mean([size < own[0] for size, _ in chance]) + np.mean([size == own[0] for size, _ in chance]) / 2
        rivals = np.median([size for size, _ in others]), max(score for _, score in others)
        numbers = {"best at": own[0], "its ACC": own[1], "median of 3 rivals": rivals[0], "best rival ACC": rivals[1]}
        yield solver, {**numbers, "mean rank share": share}


def best_size(X, y, subset):
    """Return the size with the highest mean ACC, and that ACC."""
    scores = [accuracy(X, y, subset(m))[0] for m in SIZES]
    return SIZES[int(np.argmax(scores))], max(scores)


def is_fewer(numbers):
    if "p" in numbers:
        return numbers["p"] < 0.05
    return numbers["best at"] < numbers["median of 3 rivals"] and numbers["its ACC"] > numbers["best rival ACC"]


def measure_sensitivity(data):
    X = minmax(data)
    make = partial(DGUFS, SIZE, n_clusters=data.n_classes, random_state=0)
    grid = [make(alpha=alpha, beta=beta).fit(X).subset(SIZE) for alpha in ALPHAS for beta in BETAS]
    yield "released", sensitivity(X, data.y, grid, SIZE)
    grid = [make(beta=beta, solver="normalized").fit(X).subset(SIZE) for beta in BETAS]
    yield "normalized", sensitivity(X, data.y, grid, SIZE)


def measure_pixels(data):
    X, c = minmax(data), data.n_classes
    grand = X.mean(axis=0)
    classes = [X[data.y == k] for k in range(c)]
    between = sum(len(rows) * (rows.mean(axis=0) - grand) ** 2 for rows in classes)
    ratio = between / np.maximum(((X - grand) ** 2).sum(axis=0), np.finfo(float).tiny)
    sets = random_sets(X.shape[1], SIZE, 200)
    limit = np.quantile([neighbours(data, features) for features in sets], 0.95)
    fits = {
        "released": DGUFS(SIZE, n_clusters=c),
        "normalized": DGUFS(SIZE, n_clusters=c, solver="normalized", random_state=0),
        "control: max_variance": MaxVariance(),
        "control: min_norm": MinNorm(),
    }
    for variant, model in fits.items():
        features = model.fit(X).ranking_[:SIZE]
        numbers = {"selected neighbours": neighbours(data, features), "95 % of random sets": limit}
        shares = {"between-class share": float(ratio[features].mean()), "of all pixels": float(ratio.mean())}
        yield variant, numbers | shares


def neighbours(data, features):
    """Return the mean share of selected pixels among the four neighbours of a selected one."""
    mask = np.zeros(data.n_features)
    mask[features] = 1
    image = data.image(mask)
    cross = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    total, there = (convolve(values, cross, mode="constant") for values in (image, np.ones_like(image)))
    return float((total / there)[image > 0].mean())


HOW = {
    "dgufs_iterations": (
        measure_iterations,
        lambda n: n["within 1e-3"] < LIMIT and n["gap of the copies after 50"] <= AGREE,
    ),
    "dgufs_l0": (measure_l0, l0_is_better),
    "dgufs_fewer": (measure_fewer, is_fewer),
    "dgufs_sensitivity": (measure_sensitivity, is_insensitive),
    "dgufs_compact": (measure_pixels, lambda n: n["selected neighbours"] > n["95 % of random sets"]),
    "dgufs_discriminative": (measure_pixels, lambda n: n["between-class share"] > n["of all pixels"]),
}
CLAIMS = read_claims("dgufs", HOW, globals())
