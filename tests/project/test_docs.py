"""Pages that are printed from the code agree with the code."""

import ast
import functools
import inspect
import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import forked
import pandas as pd
import pytest
from pages import BLOCK, renew

from ufs_bench.metrics.study.frames import fits_of, of_kmeans
from ufs_bench.metrics.study.selections import BY_NAME
from ufs_bench.runners.experiment.method import load_class
from ufs_bench.runners.store import reference
from ufs_bench.scripts.check_method.contract import sections
from ufs_bench.scripts.compare import shipped_names
from ufs_bench.scripts.core.conf import CONF, read
from ufs_bench.scripts.make_figure import FIGURES
from ufs_bench.scripts.rank.choice import is_control
from ufs_bench.scripts.rank.page import EVERYTHING

ROOT = Path(__file__).resolve().parents[2]
# A first line that begins with one of these is a fragment: it does not say what is returned or done.
FRAGMENTS = set("Its Of Same That Those What When Where Whether Which How Why".split())
FOLDERS = ("benchmarks", "datasets", "methods", "metrics", "runners", "scripts", "tests")
CLASSES = sorted({read(path)["target"] for path in (CONF / "method").glob("*.yaml")})


@pytest.mark.parametrize("target", CLASSES)
def test_a_method_with_a_source_says_where_it_departs_and_what_goes_wrong(target):
    found = sections(inspect.getdoc(load_class(target)))
    if "References" in found:
        assert "*Differs from" in found["Notes"]
        assert "*Known pathologies" in found["Notes"]


def test_a_docstring_is_split_at_its_titles():
    text = "One line.\n\nParameters\n----------\na : int\n\nNotes\n-----\nNothing - or\n--- little."
    assert sections(text) == {"": "One line.", "Parameters": "a : int", "Notes": "Nothing - or\n--- little."}


def fragments_of(source):
    """Return the docstrings of a module that begin with a fragment, and the number of all its docstrings."""
    kinds = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    texts = [ast.get_docstring(node) for node in ast.walk(ast.parse(source)) if isinstance(node, kinds)]
    texts = [text for text in texts if text]
    return [text for text in texts if re.match(r"\W*(\w*)", text)[1] in FRAGMENTS], len(texts)


def test_no_docstring_begins_with_a_fragment():
    assert fragments_of("def one():\n    'Whether it is one.'") == (["Whether it is one."], 1)
    paths = [*ROOT.glob("*.py"), *(path for name in FOLDERS for path in (ROOT / name).rglob("*.py"))]
    found = {str(path.relative_to(ROOT)): fragments_of(path.read_text(encoding="utf-8")) for path in paths}
    assert sum(count for _, count in found.values()) > 500
    fragments = {path: texts for path, (texts, _) in found.items() if texts}
    assert not fragments, "say what is returned or done, as in 'Return True where ...'"


def blocks(page, title):
    """Return the files and the commands of a section of a page, in order: (path or None, text)."""
    section = re.split(r"^## ", (ROOT / "docs" / page).read_text(), flags=re.MULTILINE)
    section = next(text for text in section if text.startswith(title))
    found, path = [], None
    for words, language, text in re.findall(
        r"(.*?)^ *(?:\d\. )?```(\w*)\n(.*?)^ *```$", section, re.DOTALL | re.MULTILINE
    ):
        named = re.findall(r"\d\. [\w ,]*`([\w/]+\.(?:py|yaml))`", words)
        path = named[-1] if language else None
        found.append((path, textwrap.dedent(text)))
    return found


@pytest.fixture
def clone(tmp_path):
    """Copy the tracked files, and untracked ones that git does not ignore, as in a fresh clone."""
    names = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    ).stdout
    for name in filter(None, names.decode().split("\0")):
        if (ROOT / name).is_file():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize(
    ("page", "title"),
    [
        ("start.md", "Your data and your method in five commands"),
        ("own_method.md", "As it is"),
        ("own_method.md", "A method that stays"),
        ("own_data.md", "A table of your own"),
        ("own_data.md", "Several files"),
        ("protocols.md", "Your own protocol"),
    ],
)
def test_the_steps_for_adding_something_can_be_followed_to_the_letter(page, title, clone):
    followed(clone, page, title)


@pytest.mark.slow
def test_a_newcomer_hands_in_a_method_by_the_steps_of_one_page(clone, tmp_path_factory, monkeypatch):
    """With the data sets alone that need no download."""
    who = {f"GIT_{kind}_{what}": "a@b" for kind in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    own = who | {"UFS_CACHE_DIR": str(tmp_path_factory.mktemp("cache"))}
    monkeypatch.delenv("UFS_DATA_DIR", raising=False)
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "the suite"]):
        subprocess.run(["git", *words], cwd=clone, check=True, env=os.environ | own)
    followed(clone, "own_method.md", "A method that stays", own)
    said = followed(clone, "own_method.md", "Hand it in", own)
    assert "First the default parameters on the largest data sets" in said and "2 cells checked" in said
    assert "The findings with it:" in said
    assert (clone / "results/reference/fair/spread.parquet").is_file()
    named = re.search(r"git add (.*)", said.split("To hand it in:")[1])[1].split()
    subprocess.run(["git", "add", *named], cwd=clone, check=True)
    left = subprocess.run(["git", "status", "--porcelain"], cwd=clone, capture_output=True, text=True).stdout
    assert all(line[1] == " " for line in left.splitlines()), left  # nothing but what is named has changed


def test_a_run_without_words_prints_what_the_first_page_shows(tmp_path):
    page = (ROOT / "docs/start.md").read_text()
    shown = re.search(r"## One run\n.*?\n```\n(protocol of .*?)```", page, re.DOTALL)[1]
    said = forked.printed(["run.py", f"results_dir={tmp_path}", "runner.n_jobs=1"], ROOT).splitlines()
    scores = [line for line in shown.splitlines() if ": ACC" in line]
    assert len(scores) == 2 and set(scores) < set(said)
    assert all(float(re.search(r"ACC ([\d.]+)", line)[1]) > 40 for line in scores)  # of ten classes
    whole = re.search(
        r"It is ([\d.]+) % with .*? sizes, and ([\d.]+ ± [\d.]+) % with all pixels", " ".join(page.split())
    )
    said = forked.printed(["run.py", "method=all_features", f"results_dir={tmp_path}", "runner.n_jobs=1"], ROOT)
    assert whole[1] in scores[1] and f"ACC {whole[2]}" in said


def followed(clone, page, title, variables=()):
    """Run the blocks of a section in a clone, and return what they print."""
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", **dict(variables)}
    environment.pop("PYTHONPATH", None)
    script = ["set -e"]
    for path, text in blocks(page, title):
        script.append(f"cat > {path} <<'END'\n{text}END" if path else text)
        if path and path.startswith("methods/"):
            name = re.search(r"class (\w+)", text)[1]
            line = f'    "{name}": "{Path(path).stem}",'
            script.append(f"sed -i 's/^_MODULES = {{/&\\n{line}/' methods/__init__.py")
        if path and "checksum: sha256:000" in text:
            file = re.search(r"file: (\S+)", text)[1]
            script.append(f"""sed -i "s/sha256:0*$/sha256:$(sha256sum my_data/{file} | cut -c1-64)/" {path}""")
    done = subprocess.run(["bash", "-c", "\n".join(script)], cwd=clone, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert "FAIL" not in done.stdout
    return done.stdout + done.stderr


def test_the_table_of_protocols_is_what_their_files_say():
    rows = [line.split("|") for line in (ROOT / "docs/protocols.md").read_text().splitlines() if line.startswith("| `")]
    written = {name.strip(" `"): [text.strip() for text in row[:4]] for _, name, *row in rows}
    files = {path.stem: read(path) for path in (CONF / "protocol").glob("*.yaml")}
    fields = ("sizes", "scaling", "restarts", "nmi")
    assert written == {name: [str(file[key]).strip("[]") for key in fields] for name, file in files.items()}


def test_the_page_of_what_reproduces_says_how_the_fits_ended():
    fits = pd.concat([fits_of(reference.read(paper)) for paper in shipped_names()])
    fits = fits[~fits["method"].str.endswith("_released") & ~fits["method"].map(is_control)]
    shares = (fits["status"].value_counts(normalize=True) * 100).round()
    text = " ".join((ROOT / "docs/reproduction.md").read_text(encoding="utf-8").split())
    said = re.search(r"(\d+) % end where the objective stands still, (\d+) % collapse, and (\d+) % reach", text)
    assert [int(share) for share in said.groups()] == list(shares[["converged", "collapsed", "max_iter"]])


def test_what_the_pages_say_of_choices_without_labels_is_what_their_tables_say():
    page = (ROOT / "docs/choices.md").read_text(encoding="utf-8")
    tables = page.split("\n## What a choice")[1:]
    rows = [re.findall(r"^\| (.+?) +\|.*?\(([+-][\d.]+) to ([+-][\d.]+)\)", table, re.MULTILINE) for table in tables]
    better = [{name for name, low, _ in own if float(low) > 0} for own in rows]
    worse = [{name for name, _, high in own if float(high) < 0} for own in rows]
    columns = {choice.column: f"`{name}`" for name, choice in BY_NAME.items()} | {EVERYTHING: "`all_features`"}
    columns |= {name: f"*{name}*" for name in ("nearest neighbours kept", "clusters kept")}  # of ee2f1ea1 alone
    text = " ".join(page.split())
    sentence = text.split("Intervals exclude zero in both scores")[1].split(". ")[0]
    said = [set(re.findall(r"`\w+`|\*[\w ]+\*", part)) for part in sentence.split(";")]
    # What is said holds in both scores.
    assert said == [{columns[name] for name in found[0] & found[1]} for found in (better, worse)]
    whole = [re.search(r"^\| all features, no choice +\| ([\d.]+)", table, re.MULTILINE)[1] for table in tables]
    said = re.search(r"all features loses ([\d.]+) points in ACC, less than every .*? It loses ([\d.]+) in NMI", text)
    assert list(said.groups()) == whole


def test_what_the_objections_say_of_scores_is_what_is_shipped(shipped):
    objections = " ".join((ROOT / "docs/objections.md").read_text(encoding="utf-8").split())
    page = (ROOT / "docs/reproduction.md").read_text(encoding="utf-8")
    row = r"^\| (RUFS|UFSOL|JGUFS) +\| udfs +\|.*?\|.*?\| ([-+.\d]+) +\| ([-+.\d]+)"
    found = re.findall(row, page, re.MULTILINE)
    less = {paper: float(published) - float(ours) for paper, ours, published in found}
    said = re.search(r"`udfs` keeps .*? gains ([\d.]+) points less .*? than JGUFS prints", objections)
    assert f"{less['JGUFS']:.1f}" == said[1] and less["RUFS"] < 1 and less["UFSOL"] < 1
    assert "The difference is less than 1 point for RUFS and UFSOL" in objections
    study = shipped("jgufs")
    best = of_kmeans(pd.concat([study.select(metric, "best_over_grid") for metric in ("acc", "nmi")]))
    best = best[best["dataset"] == "umist"].pivot(index="method", columns="metric", values="mean")
    said = re.search(r"it reaches ([\d.]+) in ACC and ([\d.]+) in NMI, `udfs` ([\d.]+) and ([\d.]+);", objections)
    assert [f"{value:.1f}" for value in best.loc[["udfs_released", "udfs"]].to_numpy().ravel()] == list(said.groups())
    ufsol = shipped("ufsol").trials
    own = ufsol[
        ufsol["method"].isin(("ufsol", "ufsol_released", "ufsol_alpha0", "ufsol_similarity", "ufsol_max_margin"))
    ]
    assert own.groupby(["dataset", "method"])["params"].nunique().groupby("method").nunique().eq(1).all()
    assert "The complete grid, which is shipped" in objections


def test_what_is_said_of_all_features_over_more_starts_is_the_largest_that_is_shipped():
    moved = {}
    for paper, name in shipped_names().items():
        whole = pd.read_parquet(ROOT / f"results/{name}/all_features.parquet").query("clusterer == 'kmeans'")
        again = pd.read_parquet(ROOT / f"results/{name}/_restarts.parquet").query(
            "method == 'all_features' and clusterer == 'kmeans'"
        )
        own = whole.set_index("dataset")
        for row in again.itertuples():
            moved[paper, row.dataset, row.metric] = abs(row.mean - own.loc[row.dataset, f"{row.metric}_mean"]) * 100
    most = max(moved, key=moved.get)
    assert most == ("dgufs", "pix10p", "acc")
    said = f"differ by up to {moved[most]:.1f} points (DGUFS, ACC on PIX 10P)"
    assert said in " ".join((ROOT / "docs/reading.md").read_text(encoding="utf-8").split())


@pytest.mark.parametrize("name", ["spdfs", "ufsol", "vcsdfs"])  # what CAE's page prints of them takes minutes
def test_what_the_page_of_a_method_prints_of_shipped_studies_is_what_they_say(name):
    page = (ROOT / f"docs/methods/{name}.md").read_text()
    blocks = [match[0] for match in BLOCK.finditer(page) if "open_study(" in match["code"] or ".find(" in match["code"]]
    assert blocks == [renew(block) for block in blocks] != []


def test_shipped_rows_name_commits_of_this_history():
    git = functools.partial(subprocess.run, cwd=ROOT, capture_output=True, text=True)
    shallow = git(["git", "rev-parse", "--is-shallow-repository"]).stdout.strip() == "true"
    named = [sha for name in reference.shipped_studies() for sha in fits_of(reference.read(name))["git_sha"]]
    history = set(git(["git", "rev-list", "HEAD"]).stdout.split())
    if shallow or not history & set(named):
        pytest.skip("no whole git history is here")
    assert {sha for sha in named if not sha.endswith("-dirty")} <= history


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_has_a_picture_and_its_command_on_the_page_of_figures(name):
    text = (ROOT / "docs/tables.md").read_text(encoding="utf-8")
    _, _, after = text.partition(f"![{name}](figures/{name}.svg)")
    command = after.partition("```\n")[2].partition("\n")[0]
    assert command.startswith("python -m scripts.make_figure figure=")
    assert (ROOT / f"docs/figures/{name}.svg").is_file()
