"""A web site on the loopback address, for the tests of downloads, and helpers that several of them use."""

import subprocess
import sys
import time
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socket import socket

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
SAMPLES = np.random.default_rng(0).random((60, 500))
LABELS = np.arange(60) % 3


class Page:
    """One path of the site, with its answer, and an entry in `asked` for each request.

    `cuts` has, for each request in turn, the bytes after which the connection breaks; later requests are not cut.
    """

    def __init__(self, content, cuts=(), status=200, pause=0.0, kind="application/octet-stream"):
        self.content, self.cuts, self.status = content, list(cuts), status
        self.pause, self.kind = pause, kind
        self.asked = []


class Hostile(Page):
    """A page of a broken or hostile server: headers, then pieces until the client hangs up."""

    def __init__(self, pieces, headers=(), pause=0.0):
        super().__init__(b"")
        self.pieces, self.headers, self.pause, self.sent = pieces, headers, pause, 0

    def answer(self, handler):
        handler.send_response(200)
        for name, value in self.headers:
            handler.send_header(name, value)
        handler.end_headers()
        try:
            for piece in self.pieces:
                handler.wfile.write(piece)
                self.sent += len(piece)
                time.sleep(self.pause)
        except OSError:
            return


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        page = self.server.pages.get(self.path, Page(b"no such page", status=404))
        page.asked.append(self.headers.get("Range"))
        if isinstance(page, Hostile):
            page.answer(self)
            return
        body = page.content
        self.send_response(page.status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Type", page.kind)
        self.end_headers()
        cut = page.cuts.pop(0) if page.cuts else len(body)
        for first in range(0, cut, 16384):
            self.wfile.write(body[first : min(first + 16384, cut)])
            time.sleep(page.pause)

    def log_message(self, *_):
        pass


def closed_address():
    with socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}/small.npz"


def load_in_process(spec_file):
    program = (
        "import json, sys; from ufs_bench.datasets import load_dataset; "
        "print(load_dataset(json.load(open(sys.argv[1]))).X.shape)"
    )
    command = [sys.executable, "-c", program, str(spec_file)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
