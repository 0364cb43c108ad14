"""The README and the help name nothing that is not there."""

import importlib.util
import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
CONF = ROOT / "conf"
GROUPS = [path.name for path in CONF.iterdir() if path.is_dir()]
# In the README `mine` is what a reader would add.
INVENTED = {"mine"}


def texts():
    return (ROOT / "README.md").read_text() + (CONF / "config.yaml").read_text()


def test_every_choice_named_in_an_example_is_in_conf():
    choices = re.findall(rf"(?<![\w./-])({'|'.join(GROUPS)})=([\w,]+)", texts())
    assert len(choices) > 15
    missing = {
        f"{group}={name}"
        for group, names in choices
        for name in names.split(",")
        if name not in INVENTED and not (CONF / group / f"{name}.yaml").exists()
    }
    assert not missing


def test_every_method_in_conf_is_in_the_table_of_methods():
    named = set(re.findall(r"`(\w+)`", texts()))
    assert {path.stem for path in (CONF / "method").glob("*.yaml")} <= named


def test_every_script_that_is_named_exists():
    scripts = set(re.findall(r"python -m ((?:scripts|benchmarks)\.[a-z_]+)", texts()))
    assert scripts and all(importlib.util.find_spec(name) for name in scripts)


@pytest.mark.parametrize("path", sorted(set(re.findall(r"`([\w.]+/[\w./]*)`", (ROOT / "README.md").read_text()))))
def test_every_path_that_is_named_exists(path):
    assert "mine" in path or (ROOT / path).exists()


def test_the_hydra_choices_of_the_defaults_list_exist():
    defaults = yaml.safe_load((CONF / "config.yaml").read_text())["defaults"]
    for entry in defaults:
        for group, name in entry.items() if isinstance(entry, dict) else ():
            assert name is None or group.startswith("optional ") or (CONF / group / f"{name}.yaml").exists()
