"""Measured claims about a method, printed anew: ``python -m benchmarks.notes ndfs`` runs docs/methods/ndfs.md.

Every ```python block of the page is run, in order and in one namespace, and what it prints replaces the ```text block
below it; the line "Measured at commit ..." is renewed.  Real data are found as `run.py` finds them.  With --check
nothing is written, and what would change is shown.
"""

import contextlib
import difflib
import io
import re
import sys

from runners.store.checkout import git_sha
from scripts.core.conf import ROOT
from scripts.core.programs import parser_of

FOLDER = ROOT / "docs/methods"
BLOCK = re.compile(r"```python\n(?P<code>.*?)```\n\n```text\n(?P<output>.*?)```", re.DOTALL)
MEASURED = re.compile(r"Measured at commit \w+")


def renew(text):
    """Return a page with the present output of each of its blocks."""
    namespace = {"__name__": "notes"}

    def run(match):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(match["code"], "notes", "exec"), namespace)
        return f"```python\n{match['code']}```\n\n```text\n{printed.getvalue()}```"

    return BLOCK.sub(run, text)


def main():
    """Run the command line."""
    parser = parser_of("benchmarks.notes", __doc__)
    parser.add_argument("names", metavar="NAME", nargs="+", help="pages of docs/methods")
    parser.add_argument("--check", action="store_true", help="write nothing, show what would change")
    options = parser.parse_args()
    changed = False
    for name in options.names:
        path = FOLDER / f"{name}.md"
        if not path.exists():
            known = ", ".join(sorted(page.stem for page in FOLDER.glob("*.md")))
            sys.exit(f"error: docs/methods/{name}.md does not exist; there are: {known}.")
        old = path.read_text(encoding="utf-8")
        new = renew(old)
        difference = list(difflib.unified_diff(old.splitlines(), new.splitlines(), "stored", "now", lineterm=""))
        changed = changed or bool(difference)
        print("\n".join(difference) or f"{name}: the same output")
        if difference and not options.check:
            path.write_text(MEASURED.sub(f"Measured at commit {git_sha()[:7]}", new), encoding="utf-8")
    sys.exit(int(changed and options.check))


if __name__ == "__main__":
    main()
