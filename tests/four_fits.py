"""The cell of four short fits that tests kill and run again."""

from pathlib import Path

from omegaconf import OmegaConf

from runners.settings import read_config

ROOT = Path(__file__).resolve().parents[1]


def config(folder, **runner):
    """Return the settings of a cell of four fits on 8 x 8 digits."""
    method = {
        "name": "laplacian_score",
        "target": "methods.laplacian_score.LaplacianScore",
        "params": {"n_neighbors": 3},
        "grid": {"n_neighbors": [3, 4, 5, 6]},
    }
    protocol = {"name": "p", "sizes": [5], "scaling": "minmax", "restarts": 2, "seed": 0, "nmi": "max", "max_iter": 5}
    dataset = OmegaConf.load(ROOT / "conf/dataset/digits.yaml")
    settings = {"n_jobs": 1, "redo": False, "cache": False, "points": "grid"} | runner
    parts = {"study": "s", "results_dir": str(folder), "data_dir": None, "runner": settings}
    return read_config(OmegaConf.create({**parts, "method": method, "protocol": protocol, "dataset": dataset}))
