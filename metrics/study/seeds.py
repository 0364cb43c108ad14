"""The spread of a method's scores over its own seeds."""

SCORES = ("acc", "nmi")  # the scores that are stored for other seeds
KEYS = ["trial", "n_selected", "clusterer"]
OF_SPREADS = [*KEYS, *"dataset method n_seeds acc_mean acc_std nmi_mean nmi_std".split()]


def spreads(seeds):
    """Return the mean and the standard deviation over the seeds of a method, from the rows of `scripts.refit.seeds`.

    There is one row per trial, n_selected and clusterer, with dataset and method; n_seeds, those that have scores, and
    of these acc_mean, acc_std, nmi_mean and nmi_std as fractions. Every score is a mean over the same K-means starts;
    the std is over seeds (ddof=1), and nan for a single one.
    """
    scored = seeds.astype({"n_selected": "Int64", "acc_mean": float, "nmi_mean": float}).dropna(subset="acc_mean")
    both, firsts = ["mean", "std"], {"dataset": "first", "method": "first"}
    found = scored.groupby(KEYS, sort=False).agg({**firsts, "seed": "nunique", "acc_mean": both, "nmi_mean": both})
    return found.set_axis(OF_SPREADS[len(KEYS) :], axis=1).reset_index()
