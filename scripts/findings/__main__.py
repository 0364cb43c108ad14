"""Write docs/findings.md, docs/findings.svg and the finding in the README anew, from a study that is shipped.

python -m scripts.findings             write what differs, and say what
python -m scripts.findings --check     write nothing; status 1 where something differs
"""

import argparse
import re
import sys

from runners.boundary import boundary
from scripts.core.conf import ROOT
from scripts.core.entry import answers
from scripts.core.study import Study
from scripts.core.text import write
from scripts.findings import settings_of
from scripts.findings.figure import draw
from scripts.findings.page import page, readme
from scripts.versus.formats import drawn

STUDY = "reference/fair"
PART = re.compile(r"(<!-- printed by python -m scripts\.findings -->\n).*?(\n<!-- end -->)", re.DOTALL)


def written(study):
    """Return the present text of every file, by its path."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    if not PART.search(text):
        raise ValueError(f"README.md has no part between {PART.pattern[1:46]!r} and '<!-- end -->' to be filled.")
    settings = settings_of(Study.open(ROOT / "results", study))
    return {
        ROOT / "docs/findings.md": page(study, settings),
        ROOT / "docs/findings.svg": drawn(draw(settings)),
        ROOT / "README.md": PART.sub(lambda found: found[1] + readme(study, settings) + found[2], text),
    }


def main():
    """Run the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m scripts.findings", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--study", default=STUDY, help="a shipped study (%(default)s)")
    parser.add_argument("--check", action="store_true", help="write nothing; status 1 where something differs")
    given = parser.parse_args()
    differs = False
    for path, text in written(given.study).items():
        same = path.exists() and path.read_text(encoding="utf-8") == text
        print(f"{path.relative_to(ROOT)}: {'the same' if same else 'differs' if given.check else 'written'}")
        differs = differs or not same
        if not same and not given.check:
            write(text, path)
    sys.exit(int(differs and given.check))


if __name__ == "__main__":
    with boundary(), answers():
        main()
