"""The names of the measures that an evaluation takes, for readers of stored scores as well."""

# The measures of every restart, and those of the feature set as a whole.
PER_RESTART = ("acc", "nmi", "agreement", "silhouette")
PER_SET = ("silhouette_all", "replication", "prediction_strength", "reconstruction", "nearest_neighbour")
N_MEASURES = len(PER_RESTART) + len(PER_SET)
