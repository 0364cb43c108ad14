"""The data sets of known truth: each is made from a family of conf/truth, a difficulty and a seed."""

import functools
import re
from pathlib import Path

import yaml

from ufs_bench.datasets.base import DataError
from ufs_bench.datasets.synthetic import check_recipe

FAMILIES = Path(__file__).resolve().parent.parent / "conf" / "truth"
NAME = re.compile(r"truth_(\w+)_d(\d+)_s(\d+)")
KEYS = {"signal", "seeds", "data_sha256"}  # the keys of a family, besides the options of the format synthetic


def truth_names():
    """Return the names of all data sets of known truth, such as ``truth_clusters_d2_s3``.

    d2 is the second difficulty of its family, the first being the easiest; s3 is its seed.
    """
    return [
        f"truth_{family}_d{number}_s{seed}"
        for family in sorted(path.stem for path in FAMILIES.glob("*.yaml"))
        for number in range(1, len(_family(family)["signal"]) + 1)
        for seed in _family(family)["seeds"]
    ]


def parts_of(name):
    """Return family, difficulty and seed of a data set of known truth; None for other names."""
    found = NAME.fullmatch(name)
    return (found[1], int(found[2]), int(found[3])) if found else None


def truth_spec(name):
    """Return the specification of a data set of known truth, one of `truth_names`; a DataError says what is wrong."""
    if name not in truth_names():
        raise DataError(
            f"there is no data set {name!r}: the names are truth_FAMILY_dDIFFICULTY_sSEED, such as {truth_names()[0]}."
        )
    family, number, seed = parts_of(name)
    content = _family(family)
    options = {key: value for key, value in content.items() if key not in KEYS}
    recipe = check_recipe(options | {"signal": content["signal"][number - 1], "seed": seed})
    return {
        "name": name,
        "paper_name": f"{family.capitalize()} d{number} s{seed}",
        "citation": "none: made up by this suite",
        "origin": f"conf/truth/{family}.yaml",
        "terms": "those of this suite",
        "family": "synthetic",
        "samples": recipe["samples"],
        "features": recipe["relevant"] * (1 + recipe["copies"]) + recipe["noise"],
        "classes": recipe["classes"],
        "image": None,
        "data_sha256": content["data_sha256"].get(f"d{number}_s{seed}"),
        "sources": [{"format": "synthetic", "options": recipe}],
    }


@functools.cache
def _family(name):
    path = FAMILIES / f"{name}.yaml"
    content = yaml.load(path.read_text(encoding="utf-8"), getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    if not isinstance(content, dict) or not set(content) >= KEYS:
        raise DataError(f"conf/truth/{name}.yaml must have {', '.join(sorted(KEYS))} and the options of its data.")
    return content
