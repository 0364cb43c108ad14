"""The files of refits, as `runners.refits` writes them and the commands read them."""

from pathlib import Path

from runners.files import read_cells, read_frame
from runners.provenance import Identity

SEEDS, STABILITY = "seeds.csv", "stability.csv"
OF_SEEDS = "n_selected clusterer seed status acc_mean nmi_mean feature_set git_sha identity".split()
OF_STABILITY = "change repeat n_selected status features identity".split()
COLUMNS = {file: ["trial", "dataset", "method", *own] for file, own in ((SEEDS, OF_SEEDS), (STABILITY, OF_STABILITY))}
# The columns that a row of each file is known by.
IDENTITY = {SEEDS: ["trial", "n_selected", "clusterer", "seed"], STABILITY: ["change", "repeat"]}


def read(path):
    """Return the rows of a file of refits; none where it is missing, and StoreError where it is damaged."""
    return read_frame(Path(path), COLUMNS[Path(path).name])


def load_refits(folder, file):
    """Return the rows of all cells in a study's folder, sorted, that are of the code and machine of their trial."""

    def of_their_trials(rows, trials):
        names = {row["trial"]: Identity.stored(row).name for row in trials.to_dict("records")}
        return rows[rows["identity"] == rows["trial"].map(names)]

    return read_cells(folder, file, COLUMNS[file], of_their_trials)
