"""The one rule for where things are, and the directions in which they may know each other."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("datasets", "methods", "metrics", "runners", "scripts", "benchmarks")
# Where the tests of a package lie; never under the package's own name, or pytest would import the one for the other.
MIRROR = {
    "datasets": "loading",
    "methods": "selectors",
    "methods/core": "selectors/core",
    "metrics": "scoring",
    "runners": "running",
    "scripts": "commands",
}
# The packages that a package may import besides itself.
MAY_IMPORT = {
    "datasets": set(),
    "methods": set(),
    "metrics": set(),
    "runners": {"datasets", "methods", "metrics"},
    "scripts": {"datasets", "methods", "metrics", "runners"},
}
# The parts of runners/, each of which may import those before it; a part "" are the modules that stand in no part.
PARTS = ("", "store", "workers", "experiment", "cli")
# test_contract runs the contract of `check_method` over every method.
ELSEWHERE = {"test_contract.py"}
MODULES = sorted(path.relative_to(ROOT) for name in PACKAGES for path in (ROOT / name).rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("test_*.py"))


def imported(path):
    """Return the dotted names of our modules that a file imports."""
    names = set()
    for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    names = {name.removeprefix("ufs_bench.") for name in names}
    return {name for name in names if name.split(".")[0] in PACKAGES}


def mirrored(module):
    """Return the folder in which the tests of a module lie."""
    package = "methods/core" if module.parts[:2] == ("methods", "core") else module.parts[0]
    return ROOT / "tests" / MIRROR[package]


def test_no_module_begins_with_an_underscore():
    assert not [path for path in MODULES if path.name.startswith("_") and not path.name.startswith("__")]


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_a_package_knows_only_those_below_it(package):
    for path in MODULES:
        if path.parts[0] == package:
            assert {name.split(".")[0] for name in imported(path)} <= {package} | MAY_IMPORT[package], path


def test_the_arrows_between_the_parts_of_runners_go_one_way():
    def part_of(name):
        return name.split(".")[1] if name.split(".")[1] in PARTS else ""

    seen = set()
    for path in MODULES:
        if path.parts[0] == "runners":
            own = path.parts[1] if len(path.parts) > 2 else ""
            used = {part_of(name) for name in imported(path) if name.startswith("runners.")}
            assert {PARTS.index(part) for part in used} <= set(range(PARTS.index(own) + 1)), path
            seen |= {(own, part) for part in used - {own}}
    assert len(seen) > 6


def test_no_files_import_each_other_in_a_circle():
    """Imports inside functions count, too."""
    files = {".".join(path.with_suffix("").parts).removesuffix(".__init__"): path for path in MODULES}
    left = {}
    for name, path in files.items():
        used = {one if one in files else one.rpartition(".")[0] for one in imported(path)}
        left[name] = used & files.keys() - {name}
    while ready := [name for name, used in left.items() if not used & left.keys()]:
        for name in ready:
            del left[name]
    assert not left


def test_of_hydra_only_public_modules_are_imported():
    for path in [*MODULES, Path("run.py"), Path("ufs_bench/api.py")]:
        assert "hydra._internal" not in (ROOT / path).read_text(encoding="utf-8"), path


def test_a_method_imports_the_core_and_no_other_method():
    for path in MODULES:
        if path.parts[0] == "methods" and len(path.parts) > 1 and path != Path("methods/__init__.py"):
            room = Path(path.parts[1]).stem
            assert {name.split(".")[1] for name in imported(path)} <= {"core", room}, path


def test_a_test_named_after_a_module_lies_where_the_module_does():
    homes = {}
    for module in MODULES:
        if module.parts[0] in MIRROR:
            name = module.parent.name if module.stem in ("__init__", "__main__") else module.stem
            homes.setdefault(f"test_{name}.py", set()).add(mirrored(module))
    found = [path for path in TESTS if path.name in homes.keys() - ELSEWHERE and path.parent.name != "project"]
    assert len(found) > 30
    assert not [path for path in found if path.parent not in homes[path.name]]


def test_every_test_uses_the_package_that_its_folder_mirrors():
    for path in TESTS:
        folder = path.parent.relative_to(ROOT / "tests").as_posix()
        package = next((package for package, name in MIRROR.items() if name == folder), None)
        assert package or folder == "project", f"{path}: no package has its tests in {folder}/"
        if package:
            text = path.read_text(encoding="utf-8")
            assert (
                f"{package.replace('/', '.')}." in text
                or f"from ufs_bench.{package} import" in text
                or f"from ufs_bench import {package}" in text
            ), path


def test_a_compiled_loop_uses_nothing_of_another_file():
    """Numba keeps compiled code by the file of the function alone: what another file gives would stay as it was."""
    found = 0
    for path in MODULES:
        tree = ast.parse((ROOT / path).read_text())
        ours = {
            alias.asname or alias.name
            for node in tree.body
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("ufs_bench.")
            for alias in node.names
        }
        for node in tree.body:
            decorators = [ast.unparse(one) for one in getattr(node, "decorator_list", ())]
            if any("compiled" in text or "njit" in text for text in decorators):
                found += 1
                used = {
                    part.id for statement in node.body for part in ast.walk(statement) if isinstance(part, ast.Name)
                }
                assert not used & ours, (path, node.name, used & ours)
    assert found > 5


def _unstable(call):
    """Tell whether the order that a call returns may differ among ties from one processor to the next."""
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return False
    stable = any(ast.unparse(one) in ("kind='stable'", "stable=True") for one in call.keywords)
    return call.func.attr == "argpartition" or (call.func.attr == "argsort" and not stable)


def test_orders_are_stable():
    """NumPy's sorts for AVX-512 and AVX2 put ties in different orders: only stable ones give the same bytes on both."""
    assert all(map(_unstable, (ast.parse(text, mode="eval").body for text in ("np.argsort(-x)", "x.argpartition(3)"))))
    found = 0
    for path in MODULES:
        if path.parts[0] in ("methods", "metrics"):
            calls = [node for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"))) if _unstable(node)]
            assert not calls, f'{path}:{calls[0].lineno}: {ast.unparse(calls[0])} needs kind="stable".'
            found += "argsort(" in (ROOT / path).read_text(encoding="utf-8")
    assert found > 20
