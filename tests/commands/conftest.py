"""The page of a small study, which takes seconds to make."""

import pytest
from frames import SMALL, frames, store

from scripts.core.study import Study
from scripts.make_report import make_report


@pytest.fixture(scope="session")
def html(tmp_path_factory):
    """Return the text of the report of `frames.SMALL`."""
    folder = tmp_path_factory.mktemp("report")
    store(frames(SMALL), folder)
    return make_report(Study.open(folder, "dgufs", folder / "none"))
