"""Headless Chromium over its own debugging pipe: no driver, no package, no port.

One browser serves all tests of a process, as its start takes longer than most of them; each page has a context of its
own, as a private window has.
"""

import atexit
import itertools
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from contextlib import contextmanager
from functools import cache

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


def find_chromium():
    """Return the path of the browser, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


@contextmanager
def open_page(path, width=1280, height=900, dark=False):
    """Open a page of a file on disk, and close it at the end.

    Parameters
    ----------
    path : Path
    width, height : int
    dark : bool, default=False
        The reader's preference that the page is told.
    """
    page = Page(_browser())
    try:
        page.open(path, width, height, dark)
        yield page
    finally:
        page.close()


class Browser:
    """A process and the pipes to it."""

    def __init__(self):
        read, self._write = os.pipe()
        self._read, write = os.pipe()
        self._ids, self._buffer = itertools.count(1), b""
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)

        def numbered():  # Chromium reads commands from descriptor 3 and answers on 4
            os.dup2(read, 103)
            os.dup2(write, 104)
            os.dup2(103, 3)
            os.dup2(104, 4)

        flags = "--headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run --hide-scrollbars"
        arguments = [find_chromium(), *flags.split(), f"--user-data-dir={self._profile.name}"]
        self._process = subprocess.Popen(
            [*arguments, "--remote-debugging-pipe", "about:blank"],
            preexec_fn=numbered,
            close_fds=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(read)
        os.close(write)

    def send(self, method, session=None, heard=lambda message: None, **params):
        """Return the answer to a command; `heard` is called with all that is said before."""
        number = next(self._ids)
        message = {"id": number, "method": method, "params": params} | ({"sessionId": session} if session else {})
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            heard(answer)
            if answer.get("id") == number:
                assert "error" not in answer, answer["error"]
                return answer["result"]

    def close(self):
        self._process.kill()
        self._process.wait()
        os.close(self._read)
        os.close(self._write)
        self._profile.cleanup()

    def _next(self):
        while b"\0" not in self._buffer:
            assert select.select([self._read], [], [], 60)[0], "the browser does not answer"
            data = os.read(self._read, 1 << 20)
            assert data, "the browser has ended"
            self._buffer += data
        text, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(text)


@cache
def _browser():
    browser = Browser()
    atexit.register(browser.close)
    return browser


class Page:
    """One tab; `requests` are the addresses it asked for and `errors` what its console complained of."""

    def __init__(self, browser):
        self._browser, self._session, self.requests, self.errors = browser, None, [], []
        self._context = self.send("Target.createBrowserContext")["browserContextId"]

    def open(self, path, width, height, dark):
        target = self.send("Target.createTarget", url="about:blank", browserContextId=self._context)["targetId"]
        self._session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.send(f"{domain}.enable")
        self.send(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("Emulation.setEmulatedMedia", features=[scheme])
        self.send("Page.navigate", url=path.resolve().as_uri())
        self.wait_for("document.readyState === 'complete'")

    def run(self, script):
        """Return the value of an expression in the page."""
        answer = self.send("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise AssertionError(answer["exceptionDetails"])
        return answer["result"].get("value")

    def wait_for(self, condition, seconds=20):
        end = time.monotonic() + seconds
        while not self.run(condition):
            assert time.monotonic() < end, f"never true: {condition}"
            time.sleep(0.05)

    def send(self, method, **params):
        session = None if method.startswith("Target.") else self._session
        return self._browser.send(method, session, self._hear, **params)

    def close(self):
        self.send("Target.disposeBrowserContext", browserContextId=self._context)

    def _hear(self, message):
        if message.get("sessionId") != self._session:  # of a page that was closed before
            return
        params, kind = message.get("params", {}), message.get("method")
        if kind == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        complaint = {
            "Runtime.exceptionThrown": True,
            "Log.entryAdded": params.get("entry", {}).get("level") == "error",
            "Runtime.consoleAPICalled": params.get("type") in ("error", "warning", "assert"),
        }
        if complaint.get(kind):
            self.errors.append(params)
