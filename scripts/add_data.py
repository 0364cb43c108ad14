"""Makes a data set of a file: ``python -m scripts.add_data --help``."""

import shlex

import yaml

from ufs_bench.datasets import load_dataset, spec
from ufs_bench.datasets.load import cache_dir, user_dirs
from ufs_bench.datasets.own import complete, own_spec
from ufs_bench.datasets.remarks import remarks
from ufs_bench.scripts.core.entry import command
from ufs_bench.scripts.core.text import write

HEAD = "# Added by python -m scripts.add_data.  Say where the data are from before results on them are shared.\n"
ORDER = (
    "file", "format", "options", "transposed", "columns", "labels", "label_pattern", "steps", "fill",
    "checksum", "bytes", "openml", "sparse", "files",
)  # fmt: skip
TEXTS = ("paper_name", "citation", "origin", "terms")
KEYS = ("name", *TEXTS, "samples", "features", "classes", "clusters", "image", "data_sha256", "sources")


@command("add_data")
def main(options):
    """Read the data, write their specification, and say how they are run."""
    options = dict(options)
    data_dir = options.pop("data_dir")
    if options["data"] is None:
        raise ValueError("data must be given: data=FILE, data=[FILE,FILE] or data=openml:NUMBER.")
    own, folder = own_spec(**options)
    data = load_dataset(own, folder or data_dir)
    path = spec.FOLDER / f"{own['name']}.yaml"
    write(HEAD + as_yaml(complete(own, data)), path)
    what = f"{data.n_classes} classes" if data.y is not None else f"no labels, {data.n_classes} clusters"
    print(f"{path}: {data.n_samples} samples x {data.n_features} features, {what}")
    for line in remarks(data):
        print(line)
    words = ["python", "run.py", f"dataset={data.name}", "method=mcfs"]
    if folder is not None and folder not in [one.resolve() for one in [*user_dirs(data_dir), cache_dir()]]:
        words.append(f"data_dir={folder}")
        print(f"The file is looked for in UFS_DATA_DIR, which does not name {folder}: add it there, or say data_dir=.")
    print(f"Run it: {shlex.join(words)}")


def as_yaml(own):
    """Return a specification as the files of conf/dataset have it."""
    source = {key: own["sources"][0][key] for key in ORDER if key in own["sources"][0]}
    content = {key: own[key] for key in KEYS if key in own} | {"sources": [source]}
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=110)


if __name__ == "__main__":
    main()
