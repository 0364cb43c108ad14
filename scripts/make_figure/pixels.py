"""The selected pixels over images of the data set, for every number of features."""

import numpy as np
from matplotlib.colors import to_rgb

from ufs_bench.metrics.study import METRICS, UNSCORED
from ufs_bench.metrics.study.selections import BY_NAME
from ufs_bench.scripts.core.command_lines import MissingResults
from ufs_bench.scripts.core.conf import printed, unique_names
from ufs_bench.scripts.core.text import by_labels
from ufs_bench.scripts.features import selected_features
from ufs_bench.scripts.make_figure.options import one
from ufs_bench.scripts.make_figure.style import COLOURS, GREY, WIDTH, framed

SELECTED = COLOURS[1]


def pixels(study, dataset, methods=None, metric="acc", selection="best_over_grid", samples=None, width=WIDTH):
    """Draw the selected pixels over images, a row for each method and sample, those of the data by default."""
    from ufs_bench.scripts.core.refits import data_of  # here, as no other figure needs data

    dataset = one(dataset)
    trials = study.trials[study.trials["dataset"] == dataset]
    if trials.empty:
        wanted = [(method, dataset) for method in methods or ()]
        raise MissingResults(f"nothing is stored on dataset={dataset}; name what you want: methods=[...].", wanted)
    data, reason = data_of(trials, study.data_dir)
    if data is None:
        raise ValueError(f"dataset={dataset}: {reason}")
    if data.image_shape is None:
        raise ValueError(f"dataset={dataset} has no pixels to draw: choose a data set of images.")
    if methods is None:
        selecting = ~trials["status"].isin(UNSCORED) & (trials["method"] != "all_features")
        methods = sorted(trials.loc[selecting, "method"].unique())
    samples = _middle_of_classes(data, 2 if len(methods) == 1 else 1) if samples is None else [int(s) for s in samples]
    in_print = unique_names("method", methods)
    sets = {in_print[method]: selected_features(study, method, dataset, metric, selection) for method in methods}
    who = f"{printed('method', methods[0])} on " if len(methods) == 1 else ""
    title = f"{who}{printed('dataset', dataset)}: the m selected pixels"
    of = f" ({METRICS[metric]})" if selection == "best_over_grid" else ""
    shown = f"Sample{'s' * (len(samples) > 1)} {', '.join(map(str, samples))} of the data."
    note = f"{by_labels(BY_NAME[selection].per_size, metric)}{of}. {shown} {study.origin(methods)}"
    return _drawn(data, sets, samples, title, note, width)


def _middle_of_classes(dataset, count):
    """Return the middle sample of each of the first classes, or of all samples without labels.

    The ends of a class are often unusual views.
    """
    y = np.zeros(dataset.n_samples) if dataset.y is None else dataset.y
    members = [np.flatnonzero(y == label) for label in np.unique(y)[:count]]
    return [int(rows[len(rows) // 2]) for rows in members]


def _drawn(dataset, sets, samples, title, note, width):
    """Draw a row for each sample and method of `sets`: the image, then the selected pixels over it, by size."""
    for sample in samples:
        if not 0 <= sample < dataset.n_samples:
            raise ValueError(f"samples={samples} must be in [0, n_samples={dataset.n_samples}).")
    images = {sample: _grey(dataset.image(dataset.X[sample])) for sample in samples}
    sizes = sorted({size for found in sets.values() for size in found})
    columns, rows = len(sizes) + 1, len(sets) * len(samples)
    height, breadth = dataset.image_shape
    side = (width - 0.3) / columns
    whole = 0.8 + rows * (side * height / breadth + 0.03)
    with framed(width, whole, title, note, **{"axes.grid": False}) as figure:
        grid = figure.subplots(rows, columns, squeeze=False)
        places = [(name, sample) for name in sets for sample in samples]
        for row, ((name, sample), axes) in enumerate(zip(places, grid, strict=True)):
            for axis, size in zip(axes, [None, *sizes], strict=True):
                axis.set_axis_off()
                if size is None:
                    axis.imshow(images[sample], interpolation="nearest")
                elif size in sets[name]:
                    axis.imshow(_marked(dataset, images[sample], sets[name][size]), interpolation="nearest")
                if row == 0:
                    axis.set_title("m =" if size is None else str(size), fontsize=8, pad=3)
            if len(sets) > 1 and sample == samples[0]:
                axes[0].text(
                    -0.08, 0.5 if len(samples) == 1 else 0.0, name, transform=axes[0].transAxes, rotation=90,
                    ha="right", va="center", fontsize=8, color=GREY,
                )  # fmt: skip
        figure.get_layout_engine().set(w_pad=0.015, h_pad=0.02, wspace=0.0, hspace=0.0)
    return figure


def _grey(image):
    low, high = image.min(), image.max()
    return np.repeat(((image - low) / (high - low or 1.0))[:, :, None], 3, axis=2)


def _marked(dataset, image, features):
    mask = np.zeros(dataset.n_features, dtype=bool)
    mask[features] = True
    marked = image.copy()
    marked[dataset.image(mask)] = to_rgb(SELECTED)
    return marked
