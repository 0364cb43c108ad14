"""A command of scripts/ as a user runs it."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def run(command, *arguments, timeout=120):
    """Run ``python -m scripts.<command>`` in the root of the checkout.

    Parameters
    ----------
    command : str
    *arguments : str
    timeout : float, default=120
        Seconds.

    Returns
    -------
    subprocess.CompletedProcess
    """
    words = [sys.executable, "-m", f"scripts.{command}", *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=timeout)
