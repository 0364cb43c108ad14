"""The folders of the suite and of results."""

from pathlib import Path

SUITE = Path(__file__).resolve().parents[1]


def home():
    """Return the folder of results/: the checkout, or the current folder where the suite was installed from a wheel."""
    return SUITE if (SUITE / "pyproject.toml").exists() else Path.cwd()
