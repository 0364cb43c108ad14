"""Write the documentation and the shipped results as static pages, which need no server.

They begin with a leaderboard, and have a page for every method and every data set, made from what is shipped as `fair`.

    python -m scripts.site                      into build/site
    python -m scripts.site --output FOLDER
    python -m scripts.site --studies dgufs      of the shipped studies only these; --studies without a name: none

It needs markdown-it-py: pip install -e '.[site]'.  Nothing is fitted or downloaded; where
images are at hand and their terms allow it, the page of a data set shows the means of its classes.
"""

import importlib.util
import sys
from pathlib import Path

from runners.store.reference import shipped_studies
from runners.words import counted
from scripts.core.conf import ROOT
from scripts.core.programs import parser_of, program
from scripts.site import LIMIT, build


def main():
    """Run the command line."""
    parser = parser_of("scripts.site", __doc__)
    parser.add_argument("--output", type=Path, default=ROOT / "build/site", help="folder (build/site)")
    parser.add_argument("--studies", nargs="*", choices=shipped_studies(), help="all by default")
    given = parser.parse_args()
    if importlib.util.find_spec("markdown_it") is None:
        raise ValueError("the site needs markdown-it-py: pip install -e '.[site]'.")
    files = build(given.output, given.studies)
    print(f"{given.output / 'index.html'} ({counted(len(files), 'file')})")
    for path in files:
        size = (given.output / path).stat().st_size
        if path.suffix == ".html" and size > LIMIT:
            print(
                f"note: {path} is larger than {LIMIT // 1000} KB, so it opens slowly ({size // 1000} KB)",
                file=sys.stderr,
            )


if __name__ == "__main__":
    with program():
        main()
