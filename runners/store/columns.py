"""The columns of the tidy frame, with their types and units; docs/shipped.md prints them."""

from typing import NamedTuple


class Column(NamedTuple):
    """A column of the shipped files."""

    name: str
    type: str  # of Arrow; "[]" after it: a list for each row
    unit: str
    words: str


TEXT = """\
dataset | string | | data set, a file of conf/dataset
method | string | | method, a file of conf/method
params | string | JSON | parameters of the fit
is_default | bool | | whether these are the default parameters
nth_seed | int32 || the fit's seed is that of the protocol and so much more; the starts of K-means do not change with it
n_selected | int32 | features | size of the feature set; for learned labels, how many they were learned from
clusterer | string | | kmeans: K-means on the selected features; learned: the labels of the method itself
status | string | | converged, max_iter, diverged or collapsed; without scores: failed, timeout, out_of_memory
error | string | | why there are no scores
n_samples | int32 | | number of samples of the data set
n_features | int32 | | number of features of the data set
n_restarts | int32 | | number of K-means restarts; 0 where there are no scores
acc_mean | float32 | share | clustering accuracy, mean over the restarts
acc_std | float32 | share | its standard deviation (ddof=1)
nmi_mean | float32 | share | normalised mutual information, mean over the restarts
nmi_std | float32 | share | its standard deviation (ddof=1)
agreement | float32 | -1 to 1 | adjusted Rand index of the restarts with each other, mean
silhouette | float32 | -1 to 1 | simplified silhouette of a typical restart, on the selected features
silhouette_all | float32 | -1 to 1 | the same clusters, on all features
replication | float32 | -1 to 1 | how well clusters of half of the samples return in the other half
prediction_strength | float32 | share | the same of the weakest cluster
reconstruction | float32 | share | variance of all features that the selected ones recover
nearest_neighbour | float32 | share | leave-one-out accuracy of the nearest neighbour
feature_set | int32 | | number of the set: the same in rows of a cell with the same features; 0: none
acc | int32[] | samples | samples that the best match of clusters and classes has right, in every restart
nmi | int32[] | 1/10000 | normalised mutual information of every restart
features | int32[] | | the selected features, numbered from 0, best first
labels | int32[] | | learned labels of the samples, in rows with clusterer=learned
n_iter | int64 | | sweeps of the fit
objective | float64 | | objective at the end of the fit
rise | float64 | | largest rise of the objective from one sweep to the next, as a share of itself; 0: none
trace | float64[] | | objective after every sweep, in the first row of the fit, to 7 digits
indicator_change | float64 | 0 to 1 | how far the learned indicators end from their start
n_filled | float64 | features | cae: features that are not those of its slots, but fill up the selection
n_exchanged | float64 | features | cae: features that exchanges after the annealing brought in
annealed_residual | float64 | | cae: share of the variance that is left after the annealing
residual | float64 | | cae: the same of the selected features
residual_bound | float64 | | cae: the least that any features of this number could leave
n_scored | float64 | features | features whose score is above a millionth of the largest; others are rounding
start_kept | float64 | features | features of a random start that are selected in the end
start_size | float64 | features | features of the random start
start_among | float64 | features | features that it was drawn from
fit_s | float32 | s | processor seconds of the fit, also of one that a cap ended
eval_s | float32 | s | processor seconds of the fit's own evaluations, all sizes together
peak_mb | float32 | MB | largest memory of the process during the fit
shared | bool | | whether the scores come from an evaluation that was done for another fit
trial | string | | key of the fit: a hash of data, parameters and protocol
data_sha | string | | SHA-256 of the data
git_sha | string | | commit of the code that fitted
started | string | UTC | when the fit began
identity | string | | code, packages and machine: a name in the metadata of the file
"""
COLUMNS = [Column(*(part.strip() for part in line.split("|"))) for line in TEXT.splitlines()]
LISTS = tuple(column.name for column in COLUMNS if column.type.endswith("[]"))
SUMMARY = ["acc_mean", "acc_std", "nmi_mean", "nmi_std"]  # of the restarts, to `metrics.measures.DECIMALS`
