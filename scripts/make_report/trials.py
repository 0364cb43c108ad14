"""The part of the report on one trial: its curve, its pixels, its scores, and the command that repeats it."""

import base64
import io

import numpy as np

from datasets.base import first_of
from metrics.study import is_learned
from runners.store.names import SHOWN
from runners.store.row import from_json
from runners.words import counted
from scripts.core.command_lines import repeat
from scripts.core.text import mean_std
from scripts.core.words import labelled

WIDTH, HEIGHT = 320, 120  # size of a curve, in its own units
POINTS = 150  # most points of a curve: more would not show, but make the page larger
GREYS = 15  # with the colour of the mark four bits a pixel, which halves the pictures
MARK = (213, 94, 0)  # colour of a selected pixel: colour-blind readers, too, see orange on grey


# What the page shows of a feature set.
OF_SETS = (
    "trial clusterer n_selected n_restarts features acc_mean acc_std nmi_mean nmi_std agreement silhouette".split()
)


def trial_facts(row, sets, trace, size, face, names, seeds):
    """Return all that the page shows of a trial, its rows with `OF_SETS`, its trace, and a face of its data set.

    `names` are those of the features, or None.
    """
    size = size if size in row["sizes"] else max(row["sizes"])
    features = next(own["features"] for own in sets if own["n_selected"] == size and not is_learned(own))
    return {
        **row,
        "params": from_json(row["params"]),
        "provenance": {
            "commit": row["git_sha"],
            **{name: row[name] for name in ("code_fit", "code_evaluation")},
            "data": row["data_sha"],
            **from_json(row["versions"]),
        },
        "scores": list(_scores(sets)),
        "seeds": list(_seeds(seeds)),
        "curve": curve(trace),
        "size": size,
        "features": first_of([names[one] for one in features], SHOWN)
        if names and features is not None and size < row["n_features"]
        else "",
        "pixels": pixels(face, features) if face is not None and features is not None and size < face[0].size else None,
        "command": repeat(row),
    }


def curve(values):
    """Return an SVG of the objective over the sweeps, or None where there is nothing to draw."""
    values = np.asarray(values, dtype=float)
    if len(values) < 2 or not np.isfinite(values).all():
        return None
    index = np.unique(np.linspace(0, len(values) - 1, min(len(values), POINTS)).round().astype(int))
    low, high = values.min(), values.max()
    x = index / (len(values) - 1) * WIDTH
    y = HEIGHT - (values[index] - low) / max(high - low, np.finfo(float).tiny) * HEIGHT
    return {
        "points": " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True)),
        "low": f"{low:.5g}",
        "high": f"{high:.5g}",
        "n_sweeps": len(values) - 1,
        "width": WIDTH,
        "height": HEIGHT,
    }


def pixels(face, features):
    """Return a PNG of the mean sample with the selected pixels in colour: source (a data address), height, width."""
    mean, order = face
    span = max(mean.max() - mean.min(), np.finfo(float).tiny)
    grey = 40 + 190 * np.round((GREYS - 1) * (mean - mean.min()) / span) / (GREYS - 1)
    picture = np.repeat(grey.astype(np.uint8)[..., None], 3, axis=2)
    chosen = np.zeros(mean.size, dtype=bool)
    chosen[list(features)] = True
    picture[chosen.reshape(mean.shape, order="F" if order == "column" else "C")] = MARK
    return {"source": png_of(picture, GREYS + 1), "height": mean.shape[0], "width": mean.shape[1]}


def png_of(picture, n_colours):
    """Return the data address of a PNG of so many colours, from an array of bytes."""
    from PIL import Image  # here, as only pages on images need it

    file = io.BytesIO()
    Image.fromarray(picture).quantize(n_colours).save(file, "PNG", optimize=True)
    return "data:image/png;base64," + base64.b64encode(file.getvalue()).decode()


def _scores(sets):
    scored = [own for own in sets if own["n_restarts"] > 0]
    for own in sorted(scored, key=lambda own: (own["clusterer"], own["n_selected"])):
        found = {name: mean_std(own[f"{name}_mean"], own[f"{name}_std"], " ± ") for name in ("acc", "nmi")}
        # For the measures without labels only the mean is of use.
        found |= {name: mean_std(100 * own[name], float("nan")) for name in ("agreement", "silhouette")}
        yield {"clusterer": own["clusterer"], "size": own["n_selected"], **found}


def _seeds(seeds):
    """Describe the scores of other seeds of the method."""
    for own in seeds.itertuples():
        acc, nmi = mean_std(own.acc_mean, own.acc_std, " ± "), mean_std(own.nmi_mean, own.nmi_std, " ± ")
        size = labelled(f"{own.n_selected} features", own.clusterer)
        yield f"{size}: ACC {acc}, NMI {nmi} over {counted(own.n_seeds, 'seed')}"
