"""``python -m scripts.fetch_data``; it is tested here, beside the server that it downloads from."""

import functools
import os
import signal
import subprocess
import sys

import pytest
import yaml
from forked import wait_until
from web_site import ROOT, Page

from ufs_bench.scripts.fetch_data import main


@pytest.fixture
def registry(tmp_path, monkeypatch, spec, site, content):
    """Make three data sets of the site: `one` and `two` are available, `gone` is not."""
    folder = tmp_path / "conf"
    folder.mkdir()
    monkeypatch.setattr("ufs_bench.datasets.spec.FOLDER", folder)
    for name, path in (("one", "/1"), ("two", "/2"), ("gone", "/3")):
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(spec(site.url(path), name=name)))
    site.pages["/1"], site.pages["/2"] = Page(content, pause=0.01), Page(content)


def test_one_failure_does_not_stop_the_others_and_shows_in_the_exit_status(registry, cache, capsys):
    assert main(["dataset=all"]) == 1
    out = capsys.readouterr().out
    assert "one: downloaded, 60 x 500 x 3, cache: one.npz" in out and "terms: none" in out
    assert out.splitlines()[-2:] == ["1 FAILED; 2 downloaded", "failed: gone"]
    assert main(["dataset=one,two"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "2 there"


def test_the_list_says_where_each_is_found(registry, cache, capsys, tmp_path, content, monkeypatch):
    monkeypatch.setenv("UFS_DATA_DIR", "")  # names no folder
    main(["dataset=one"])
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/two.npz").write_bytes(content)
    capsys.readouterr()
    assert main(["list=true", f"data_dir={tmp_path / 'mine'}"]) == 0
    rows = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}
    assert rows["one"].endswith("0.24 MB  cache: one.npz")
    assert rows["two"].endswith("0.24 MB  data_dir: two.npz")
    assert rows["gone"].endswith("-  download")
    assert "60 x 500 x 3" in rows["gone"]


def test_one_file_that_cannot_be_read_does_not_hide_the_others(registry, cache, capsys, tmp_path):
    (tmp_path / "conf/two.yaml").write_text("name: [two\n")
    assert main(["list=true"]) == 1
    printed = capsys.readouterr()
    assert "two.yaml is not YAML" in printed.err and "one" in printed.out.split()


def test_the_list_of_named_sets_shows_their_addresses_and_checksums(registry, cache, site, capsys, spec):
    assert main(["dataset=two", "list=true"]) == 0
    out = capsys.readouterr().out
    assert site.url("/2") in out and spec()["sources"][0]["checksum"] in out and "one" not in out.split()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["dataset=none_such"], "dataset=none_such: there is no such data set. list=true shows all"),
        (["dataset=onn"], "dataset=onn: there is no such data set. Did you mean one?"),
        ([], "there are gone, one, two"),
    ],
)
def test_a_wrong_command_says_what_is_known(registry, cache, capsys, arguments, words):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 1
    assert words in capsys.readouterr().err


def test_ctrl_c_ends_the_script_at_once_without_a_file(site, cache, content, tmp_path, spec):
    site.pages["/a"] = page = Page(content, pause=2)
    (tmp_path / "slow.yaml").write_text(yaml.safe_dump(spec(site.url("/a"), name="slow")))
    program = (
        "import ufs_bench.datasets.spec, pathlib, runpy, sys\n"
        "ufs_bench.datasets.spec.FOLDER = pathlib.Path(sys.argv.pop(1))\n"
        "runpy.run_module('scripts.fetch_data', run_name='__main__')"
    )
    command = [sys.executable, "-c", program, str(tmp_path), "dataset=slow"]
    # A shell in the background ignores the signal, and its children would, too.
    heed = functools.partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    child = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True, preexec_fn=heed)
    wait_until(lambda: page.asked)
    os.kill(child.pid, signal.SIGINT)
    assert "interrupted" in child.communicate(timeout=15)[1]
    assert child.returncode == 130 and not list(cache.glob("*.npz"))
