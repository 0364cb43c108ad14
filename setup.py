"""Puts the folders of the checkout into the package of a wheel."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

PACKAGE = "ufs_bench"
PARTS = ("conf", "datasets", "methods", "metrics", "runners", "scripts", "results", "run.py", "CITATION.cff", "LICENSE")


class Suite(build_py):
    """Builds the package as usual and, for a wheel, its parts."""

    def run(self):
        """Copy the parts; an editable install finds them in the checkout."""
        super().run()
        if self.editable_mode:
            return
        target = Path(self.build_lib, PACKAGE)
        for part in map(Path, PARTS):
            if part.is_dir():
                shutil.copytree(part, target / part, ignore=_ignored, copy_function=_copy, dirs_exist_ok=True)
            else:
                shutil.copy(part, target / part)


def _ignored(folder, names):
    """Return what is left out of a folder: caches, and of results all but the printed values and shipped studies."""
    own = {name for name in names if name == "__pycache__" or name.startswith(".")}
    if Path(folder) == Path("results"):
        own |= {name for name in names if name != "reference" and not name.startswith("published")}
    return own


def _copy(source, target):
    """Copy a file, one of shipped results without its lists."""
    path = Path(source)
    if path.suffix != ".parquet" or path.parts[:2] != ("results", "reference") or path.name.startswith("_"):
        return shutil.copy2(source, target)
    from pyarrow import float32, parquet, types  # here, as only a wheel needs it

    file = parquet.ParquetFile(path)
    # Most of the room of the shipped results is for lists, which no table and no plan reads.
    table = file.read([field.name for field in file.schema_arrow if not types.is_list(field.type)])
    numbers = [field.name for field in table.schema if field.type == float32()]
    once = [name for name in table.column_names if name not in numbers]
    how = {"use_dictionary": once, "column_encoding": dict.fromkeys(numbers, "BYTE_STREAM_SPLIT")}
    how |= {"compression": "brotli", "write_statistics": False, "write_page_checksum": True, "store_schema": False}
    with parquet.ParquetWriter(target, table.schema, **how) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata(file.metadata.metadata)
    return target


setup(cmdclass={"build_py": Suite})
