"""A command of scripts/ as a user runs it."""

import os
from pathlib import Path

import forked

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
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return forked.run(["-m", f"scripts.{command}", *map(str, arguments)], ROOT, environment, timeout)


def printed(command, *arguments):
    """Return what a command of scripts/ prints, which must succeed."""
    done = run(command, *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout
