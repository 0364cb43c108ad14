"""The choice of what is ranked: one copy of each source of data, one variant of each method; controls are apart."""

from typing import NamedTuple

from ufs_bench.scripts.core.conf import entry, family_of, names

CONTROLS = ("methods.baselines.", "methods.spectral_labels.")


class Choice(NamedTuple):
    """Some methods and data sets of a study."""

    # Sorted; the controls are all that the study has
    methods: list
    controls: list
    datasets: list
    families: dict  # data set -> family; its own name where conf/dataset has none
    left_out: list  # sentences on what was left out, and why


def choose(study, methods=None, datasets=None, variants="base"):
    """Choose the methods and data sets that a ranking counts.

    What is named is taken.  By default these are the data sets on which a method of the study was run, one of each
    source: the one with most methods, then with most samples.  With variants="base" one method of each class is taken,
    the one with the name of its file: mcfs, and not mcfs_released.
    """
    if variants not in ("base", "all"):
        raise ValueError(f"variants={variants!r} must be base or all.")
    left_out = []
    stored = sorted(study.trials["method"].unique())
    chosen = [name for name in (stored if methods is None else sorted(set(methods))) if not is_control(name)]
    if methods is None and variants == "base":
        chosen, others = _one_of_each_class(chosen)
        left_out += _sentence(others, "a variant of", "variants=all keeps them")
    places = sorted(study.trials["dataset"].unique() if datasets is None else set(datasets))
    if datasets is None:
        rows = study.trials[study.trials["method"].isin(chosen)]
        bare = [name for name in places if chosen and name not in set(rows["dataset"])]
        left_out += [f"Left out: {', '.join(bare)} (only controls were run there)."] if bare else []
        places, others = one_of_each_source([name for name in places if name not in bare], rows)
        left_out += _sentence(others, "of the same source as", "datasets=[...] takes those that it names")
    families = {name: family_of(name) for name in places}
    return Choice(chosen, list(filter(is_control, stored)), places, families, left_out)


def base_methods():
    """Return the methods of conf/method that are no control, variant or released program, sorted."""
    return _one_of_each_class([name for name in names("method") if not is_control(name)])[0]


def is_control(method):
    """Return True where a method is in a module of `CONTROLS`: it selects all, random or trivially chosen features."""
    return _class_of(method).startswith(CONTROLS)


def one_of_each_source(datasets, rows):
    """Return one data set of each source, with most methods in `rows`, and for each other data set which one was taken.

    The same data under another name are of the same source, where `rows` know them.
    """
    n_methods = rows.groupby("dataset")["method"].nunique()
    same = {}
    if "data_sha" in rows:
        for _, named in rows[rows["data_sha"] != ""].groupby("data_sha")["dataset"]:
            same |= dict.fromkeys(named, named.min())
    sources = {name: source_of(same.get(name, name)) for name in datasets}

    def order(name):
        return -n_methods.get(name, 0), -entry("dataset", name, "samples", 0), name != sources[name], name

    return _first_of_each(datasets, sources, order)


def source_of(dataset):
    """Return the name of the data set whose source a data set has: its own, for most."""
    return entry("dataset", dataset, "same_source_as", dataset)


def _class_of(method):
    return entry("method", method, "target", method)


def _one_of_each_class(methods):
    """Return of the methods of each class the one with the name of its file, and what stands for each of the others."""
    classes = {name: _class_of(name) for name in methods}
    return _first_of_each(methods, classes, lambda name: (name not in classes[name].split("."), len(name), name))


def _first_of_each(names, groups, order):
    """Return the first name of each group, in the given order, and for every other name the first of its group."""
    first = {}
    for name in sorted(names, key=order):
        first.setdefault(groups[name], name)
    others = {name: first[groups[name]] for name in sorted(names) if first[groups[name]] != name}
    return [name for name in names if name not in others], others


def _sentence(others, words, remedy):
    texts = ", ".join(f"{name} ({words} {first})" for name, first in others.items())
    return [f"Left out: {texts}; {remedy}."] if others else []
