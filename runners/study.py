"""A study is tied to one protocol: a file beside its results."""

import json
from pathlib import Path

import filelock

from metrics.protocol import Protocol
from runners.files import clear_unfinished, replace_file
from runners.reading import StoreError


def claim_study(folder, protocol):
    """Tie a study's folder to one protocol, so that no table can mix two.

    Parameters
    ----------
    folder : path
        ``results/<study>``.
    protocol : Protocol

    Raises
    ------
    StoreError
        When the folder already holds results of another protocol.
    """
    path = Path(folder) / "protocol.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    with filelock.FileLock(path.with_name(".protocol.lock")):
        clear_unfinished(path)
        if not path.exists():
            replace_file(path, (json.dumps(protocol.stored(), sort_keys=True, indent=1) + "\n").encode())
        try:
            stored = Protocol.from_json(path.read_text())
        except ValueError as error:
            raise StoreError(
                f"{path} holds no protocol ({str(error).rstrip('.')}). Restore it, or choose another study=NAME."
            ) from error
    differences = sorted(stored.differences(protocol).items())
    if differences:
        words = "; ".join(f"{name}: stored {there}, asked {here}" for name, (there, here) in differences)
        raise StoreError(
            f"The study {path.parent.name!r} holds results of another protocol ({words}). "
            "Choose another study=NAME for this one."
        )
