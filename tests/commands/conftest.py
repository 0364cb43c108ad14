"""Studies that take seconds to read or to make: the largest shipped one, the page of a small one, one handed in."""

import forked
import pytest
from frames import SMALL, frames, store
from small_data import TRUTH

from runners.store import reference
from scripts import ship
from scripts.compare import compare_studies, open_studies, shipped_names
from scripts.core.conf import ROOT
from scripts.core.study import Study
from scripts.make_report import make_report
from scripts.verify import scores
from scripts.verify.check import check, part

# A report of three sections.
REPORT = """<p class="kicker">{}</p><main>
<section id="overview"><a href="#t-1">a fit</a></section>
<section id="tables"><article id="one"><a href="#overview">up</a></article></section>
<section id="trials"><article id="t-1"></article></section>
</main>"""
METHODS = ("max_variance", "dgufs", "mcfs", "ndfs")  # ndfs learns labels of ten clusters, dgufs here of one


@pytest.fixture(scope="session")
def fair():
    """Return the largest shipped study, which keeps what is computed of it."""
    return Study.open(ROOT / "results", "reference/fair")


def with_few_flips(patch):
    """Let p be of a hundredth of the flips, where its third digit does not matter: .05 is off by .002."""
    from scripts.findings import plan

    patch.setattr(plan, "FLIPS", plan.FLIPS // 100)
    patch.setattr(plan, "FLIPS_WITHOUT", plan.FLIPS_WITHOUT // 10)


few_flips = pytest.fixture(lambda monkeypatch: with_few_flips(monkeypatch))


@pytest.fixture(scope="session")
def settings(fair):
    """Return what the pages of findings are written from."""
    from scripts.findings.__main__ import settings_for

    return settings_for(fair)


@pytest.fixture(scope="session")
def comparison():
    """Return the shipped studies of the papers, and their comparison with what is printed."""
    studies = open_studies(ROOT / "results", shipped_names())
    return studies, compare_studies(studies)


@pytest.fixture(scope="session")
def html(tmp_path_factory):
    """Return the text of the report of `frames.SMALL`."""
    folder = tmp_path_factory.mktemp("report")
    store(frames(SMALL), folder)
    return make_report(Study.open(folder, "dgufs", folder / "none"))


@pytest.fixture(scope="session")
def built(tmp_path_factory, comparison):
    """Return the folder of the site, with a page of three sections in the place of the one report."""
    from scripts import site

    folder = tmp_path_factory.mktemp("site") / "site"
    with pytest.MonkeyPatch.context() as patch:
        with_few_flips(patch)
        patch.setattr(site.methods, "comparisons", lambda: comparison[1].copy())
        patch.setattr(site, "make_report", lambda study, selection: REPORT.format(study.name))
        site.build(folder, ["dgufs"])
    return folder


@pytest.fixture(scope="session")
def handed_in(tmp_path_factory):
    """Return a shipped study of small made-up data, as a folder to copy, and a folder with its evaluations."""
    folder = tmp_path_factory.mktemp("results")
    words = ["-m", f"method={','.join(METHODS)}", f"dataset={TRUTH}", "protocol=smoke", "study=mine"]
    words += ["runner.points=2", f"results_dir={folder}", "runner.n_jobs=1", "protocol.restarts=3", "+protocol.seeds=2"]
    forked.printed(["run.py", *words], ROOT)
    with pytest.MonkeyPatch.context() as patch:
        for module in (reference, ship):
            patch.setattr(module, "SHIPPED", folder / "shipped")
        ship.ship(folder, "mine")
    return folder / "shipped" / "mine", folder / ".evaluations"


@pytest.fixture
def study(handed_in, shipping):
    """Return the folder of the study, a copy for one test."""
    (shipping / "mine" / "_seeds").mkdir(parents=True)
    (shipping / "mine" / "_seeds").rmdir()
    for path in handed_in[0].iterdir():
        (shipping / "mine" / path.name).write_bytes(path.read_bytes())
    return shipping / "mine"


@pytest.fixture
def verify(handed_in):
    def verified(methods=None):
        spent = scores.Spent()
        return check("mine", part("mine", None, methods), None, spent, handed_in[1], say=lambda line: None)[1]

    return verified
