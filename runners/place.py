"""The folders of the suite and of results; with it, ``${root:}`` in files of conf/ has a meaning."""

from pathlib import Path

from omegaconf import OmegaConf

SUITE = Path(__file__).resolve().parents[1]


def home():
    """Return the folder of results/: the checkout, or the current folder where the suite was installed from a wheel."""
    return SUITE if (SUITE / "pyproject.toml").exists() else Path.cwd()


OmegaConf.register_new_resolver("root", lambda: str(home()), replace=True)
