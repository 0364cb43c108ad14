"""Makes docs/python.ipynb of docs/python.md, with what its code prints: ``python -m scripts.docs.notebook``."""

import ast
import base64
import io
import json
import linecache
import os
import re
import sys
from contextlib import redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType

from ufs_bench.scripts.core.conf import ROOT

PAGE, NOTEBOOK = ROOT / "docs" / "python.md", ROOT / "docs" / "python.ipynb"
CODE = re.compile(r"```python\n(.*?)```", re.DOTALL)
DPI = 80
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def made(page):
    """Return a page of Markdown as a notebook, a dict, with the outputs of its code."""
    cells, kernel = [], ModuleType("__main__")  # without a file, as a kernel has it
    sys.modules["__main__"] = kernel
    for number, text in enumerate(CODE.split(page)):
        cell = {"cell_type": "code" if number % 2 else "markdown", "id": f"cell-{number}", "metadata": {}}
        if number % 2:
            count = number // 2 + 1
            cell |= {"execution_count": count, "outputs": _outputs(text.strip(), count, vars(kernel))}
        cells.append({**cell, "source": _lines(text.strip())})
    return {"cells": cells, "metadata": METADATA, "nbformat": 4, "nbformat_minor": 5}


def _outputs(text, count, names):
    """Run a cell; return what it prints, and the value of its last line."""
    file, tree, printed, value = f"<cell {count}>", ast.parse(text), io.StringIO(), None
    linecache.cache[file] = len(text), None, text.splitlines(True), file  # where `inspect` finds it
    shown = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    with redirect_stdout(printed):
        exec(compile(tree, file, "exec"), names)
        if shown is not None:
            value = eval(compile(ast.Expression(shown.value), file, "eval"), names)
    outputs = []
    if printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": _lines(printed.getvalue())})
    if value is not None:
        outputs.append(
            {"data": _data(value), "execution_count": count, "metadata": {}, "output_type": "execute_result"}
        )
    return outputs


def _data(value):
    found = {"text/plain": _lines(repr(value))}
    if hasattr(value, "savefig"):
        buffer = io.BytesIO()
        value.savefig(buffer, format="png", dpi=DPI)
        found = {"image/png": base64.b64encode(buffer.getvalue()).decode(), **found}
    return found


def _lines(text):
    return text.splitlines(keepends=True)


def main(path=NOTEBOOK):
    """Write the notebook; its code runs in an empty folder."""
    path, page, home = Path(path).resolve(), PAGE.read_text("utf-8"), Path.cwd()
    with TemporaryDirectory() as folder:
        os.chdir(folder)
        found = made(page)
        os.chdir(home)
    path.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
