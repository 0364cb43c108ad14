"""README, help and pages name only files and options that exist."""

import importlib.util
import re
from pathlib import Path

import pytest
import yaml

from ufs_bench.scripts.core.conf import find

ROOT = Path(__file__).resolve().parents[2]
CONF = ROOT / "conf"
GROUPS = [path.name for path in CONF.iterdir() if path.is_dir()]
# Files that a reader would add, in the examples of the README, docs/own_method.md, own_data.md and protocols.md.
GONE = {"results/reference/fair_earlier"}  # the plan, which is not changed any more, names it
INVENTED = {"all", "mysel", "two_plates", "x", "mine", "spread", "wine", "small"}
FOLDERS = "|".join(sorted(path.name for path in ROOT.iterdir() if path.is_dir() and path.name != "build")).replace(
    ".", r"\."
)
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


# Pages that show how to type things; the others print what was measured.
GUIDES = ["README.md", *(f"docs/{name}.md" for name in "start sweeps shipped tables own_data own_method index".split())]


def texts():
    return "".join((ROOT / name).read_text(encoding="utf-8") for name in [*GUIDES, "conf/config.yaml"])


def test_every_choice_named_in_an_example_is_in_conf():
    choices = re.findall(rf"(?<![\w./-])({'|'.join(GROUPS)})=([\w,]+)", texts())
    assert len(choices) > 15
    missing = {
        f"{group}={name}"
        for group, names in choices
        for name in names.split(",")
        if name not in INVENTED and not find(group, name)
    }
    assert not missing


def test_every_method_in_conf_is_in_the_table_of_methods():
    page = (ROOT / "docs/methods.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\[`.*?) +\|", page, re.MULTILINE)
    named = re.findall(r"`(\w+)`", " ".join(rows))
    assert sorted(path.stem for path in (CONF / "method").glob("*.yaml")) == sorted(named)


def test_every_command_is_on_the_first_page():
    page = (ROOT / "docs/start.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([a-z_]+)`", page.split("## Commands")[1]))
    commands = {path.stem for path in (ROOT / "scripts").iterdir() if path.suffix == ".py" or path.is_dir()}
    assert commands - {"__init__", "__main__", "__pycache__", "core", "docs"} <= named


def test_every_page_is_in_the_index():
    docs = ROOT / "docs"
    linked = set(re.findall(r"\]\(([^)#]+)", (docs / "index.md").read_text(encoding="utf-8")))
    pages = {str(path.relative_to(docs)) for path in docs.rglob("*.md")}
    assert pages - {"index.md"} == linked


def test_the_glossary_is_one_screen():
    assert len((ROOT / "docs/glossary.md").read_text(encoding="utf-8").splitlines()) <= 40


def test_every_script_that_is_named_exists():
    """A line that names commit ee2f1ea1 may name a command that only this commit has."""
    lines = "".join(page.read_text(encoding="utf-8") for page in PAGES).splitlines()
    pages = "\n".join(line for line in lines if "ee2f1ea1" not in line)
    scripts = set(re.findall(r"python -m ((?:scripts|benchmarks)\.[a-z_]+)", pages + texts()))
    assert scripts and all(importlib.util.find_spec(name) for name in scripts)


def paths(text):
    """List the paths in a text: those in backticks, and files anywhere; placeholders in capitals are left out."""
    found = set(re.findall(rf"`((?:{FOLDERS})/[\w./]*)`", text))
    found |= set(re.findall(rf"(?<![\w./(-])((?:{FOLDERS})/[\w./]+\.(?:py|md|yaml|csv))\b", text))
    return {path for path in found if not re.search(r"\b[A-Z]{4}", path)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_path_and_every_link_on_a_page_exists(page):
    text = page.read_text(encoding="utf-8")
    ours = {path for path in paths(text) if not INVENTED & set(re.findall(r"[a-z]+", path))}
    assert not {path for path in ours - GONE if not (ROOT / path).exists()}
    links = re.findall(r"\]\((?!https?:)([^)#]+)", text)
    assert not {link for link in links if not (page.parent / link).exists()}


def test_contributing_names_many_paths():
    assert len(paths((ROOT / "CONTRIBUTING.md").read_text())) > 30


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_link_into_a_page_leads_to_a_title(page):
    for file, title in re.findall(r"\]\((?!https?:)([^)#]*)#([\w-]+)\)", page.read_text(encoding="utf-8")):
        target = page.parent / file if file else page
        titles = re.findall(r"^#+ (.*)$", target.read_text(encoding="utf-8"), re.MULTILINE)
        assert title in {re.sub(r"[^\w -]", "", words.lower()).replace(" ", "-") for words in titles}


def test_the_hydra_choices_of_the_defaults_list_exist():
    defaults = yaml.safe_load((CONF / "config.yaml").read_text())["defaults"]
    for entry in defaults:
        for group, name in entry.items() if isinstance(entry, dict) else ():
            assert name is None or group.startswith("override hydra/") or (CONF / group / f"{name}.yaml").exists()
