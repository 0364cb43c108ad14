"""Fixtures: a web site, an empty cache, the specification of a data set on the site, and readers of users' files."""

import threading
from http.server import ThreadingHTTPServer
from io import BytesIO

import numpy as np
import pytest
from small_data import write_mat
from web_site import LABELS, SAMPLES, Handler

from ufs_bench.datasets import DataError, load_dataset
from ufs_bench.datasets.base import say
from ufs_bench.datasets.files import checksum
from ufs_bench.datasets.own import own_spec


@pytest.fixture
def site(monkeypatch):
    """Start a web site: ``site.pages[path] = Page(...)``, ``site.url(path)``."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.handle_error = lambda *_: None  # clients of these tests hang up
    server.pages = {}
    server.url = lambda path: f"http://127.0.0.1:{server.server_port}{path}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join(5)


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("UFS_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("UFS_DATA_DIR", raising=False)
    return tmp_path / "cache"


@pytest.fixture(scope="session")
def content():
    archive = BytesIO()
    np.savez(archive, X=SAMPLES, y=LABELS)
    return archive.getvalue()


@pytest.fixture
def spec(tmp_path, content):
    """Return a function: ``spec(address, ...)`` is a data set of `content` at these addresses."""
    (tmp_path / "original").write_bytes(content)

    def make(*urls, name="small", **changes):
        source = {
            "file": f"{name}.npz",
            "format": "npz",
            "options": {"x": "X", "y": "y"},
            "checksum": f"sha256:{checksum(tmp_path / 'original')}",
            "urls": list(urls),
        }
        texts = dict.fromkeys(("paper_name", "citation", "origin", "terms"), "none")
        shape = {"samples": 60, "features": 500, "classes": 3, "image": None, "data_sha256": None}
        return {"name": name, **texts, **shape, "sources": [source | changes]}

    return make


@pytest.fixture
def mat(tmp_path):
    """Return the path of a Matlab file of `small_data`."""
    write_mat(tmp_path / "small.mat")
    return tmp_path / "small.mat"


@pytest.fixture
def read(tmp_path, caplog):
    """Return a function that loads files of `tmp_path`, and the lines that it logs."""
    say.cache_clear()

    def load(data, **options):
        caplog.clear()
        options = {key: value if key != "labels" else tmp_path / value for key, value in options.items()}
        data = [tmp_path / one for one in data] if isinstance(data, list) else tmp_path / data
        return load_dataset(*own_spec(data, **options)), [record.getMessage() for record in caplog.records]

    return load


@pytest.fixture
def refused(read):
    """Return a function that checks the error of files that cannot be read so."""

    def check(words, data, **options):
        with pytest.raises(DataError, match=words):
            read(data, **options)

    return check
