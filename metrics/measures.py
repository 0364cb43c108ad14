"""The names of the measures that an evaluation takes, for readers of stored scores as well."""

from statistics import fmean

# The measures of every restart, and those of the feature set as a whole.
PER_RESTART = ("acc", "nmi", "agreement", "silhouette")
PER_SET = ("silhouette_all", "replication", "prediction_strength", "reconstruction", "nearest_neighbour")
N_MEASURES = len(PER_RESTART) + len(PER_SET)
# Those that are stored for every restart, and those of which one number is stored for the set.
SCORED = PER_RESTART[:2]
OF_SET = PER_RESTART[2:] + PER_SET
# Decimals of all that is stored but the scores of a restart: five of a percent, less than a float32 holds, and above
# the rounding of sums.  ACC of a restart is stored as a share of samples; `runners.store.row` says how NMI is.
DECIMALS = 7


def of_set(scores):
    """Return the measures `OF_SET` of scores of `metrics.evaluate.evaluate`: means over the restarts that have one."""
    found = ([float(value) for value in row if value == value] for row in scores[len(SCORED) :])
    return [round(fmean(values), DECIMALS) if values else float("nan") for values in found]


def of_restarts(scores):
    """Return the measures `SCORED` of the same scores, a tuple for each restart."""
    return [(acc, round(nmi, DECIMALS)) for acc, nmi in scores[: len(SCORED)].T.tolist()]
