"""The figures and the ranks of the report page."""

import base64
import io

from metrics.study.ranks import ranks
from metrics.study.summary import SELECTIONS
from scripts.core.command_lines import MissingResults
from scripts.core.conf import printed, unique_names
from scripts.make_figure.of_scores import acc_vs_size
from scripts.ranks import rank_study

FIGURE_BYTES = 1_200_000  # of all figures together


def figures(folder, study, selection):
    """The files of the study's folder of figures; without any, ACC against the number of features.

    Parameters
    ----------
    folder : Path
    study : Study
    selection : str

    Returns
    -------
    dict
        shown: a list of name and source, a data address; left_out: names of files that would make the page too large;
        lacking: why a data set has no figure.
    """
    shown, left_out, lacking, total = [], [], [], 0
    files = sorted(path for path in folder.glob("**/*") if path.suffix in (".svg", ".png")) if folder.is_dir() else []
    vector = {path.with_suffix("") for path in files if path.suffix == ".svg"}
    for path in (path for path in files if path.suffix == ".svg" or path.with_suffix("") not in vector):
        data = path.read_bytes()
        if total + len(data) * 4 / 3 > FIGURE_BYTES:
            left_out.append(path.name)
            continue
        total += len(data) * 4 / 3
        kind = "svg+xml" if path.suffix == ".svg" else "png"
        shown.append({"name": path.stem.replace("_", " "), "source": _address(data, kind)})
    if not shown and not left_out:
        for dataset in sorted(study.summary["dataset"].unique()):
            try:
                figure = acc_vs_size(study, dataset, selection=selection)
            except MissingResults as error:
                lacking.append(str(error))
                continue
            file = io.BytesIO()
            figure.savefig(file, format="svg", metadata={"Date": None})
            name = f"ACC against the number of features on {printed('dataset', dataset)}"
            shown.append({"name": name, "source": _address(file.getvalue(), "svg+xml")})
    return {"shown": shown, "left_out": left_out, "lacking": lacking}


def _address(data, kind):
    return f"data:image/{kind};base64," + base64.b64encode(data).decode()


def average_ranks(study, selection):
    """Mean ranks under every selection, and the tests of the page's own or why there are none.

    Parameters
    ----------
    study : Study
    selection : str

    Returns
    -------
    dict
    """
    means = {}
    for name in SELECTIONS:
        chosen = study.select("acc", name)
        chosen = chosen[chosen["clusterer"] == "kmeans"]
        means[name] = chosen.pivot(index="dataset", columns="method", values="mean").dropna(axis=1)
    shared = sorted(set.intersection(*(set(frame.columns) for frame in means.values())))
    if len(shared) < 2:
        return {"rows": [], "datasets": []}
    columns = {name: ranks(frame[shared]).mean() for name, frame in means.items()}
    datasets = list(means[selection].index)
    names = unique_names("method", columns[selection].index)
    order = columns[selection].sort_values(kind="stable").index
    rows = [
        {"method": names[method], "ranks": [float(column[method]) for column in columns.values()]} for method in order
    ]
    return {
        "rows": rows,
        "datasets": datasets,
        "selections": list(columns),
        "left_out": sorted(unique_names("method", set(study.summary["method"]) - set(shared)).values()),
        "tests": _tests(study, selection, shared, names),
    }


def _tests(study, selection, methods, names):
    try:
        found = rank_study(study, "acc", selection, methods=methods)
    except ValueError as error:
        return {"refusal": str(error)}
    compared = found.comparison
    intervals = [
        {"method": names[row.Index], "rank": row.average_rank, "low": row.low, "high": row.high, "wins": int(row.wins)}
        for row in found.table.itertuples()
    ]
    return {
        "refusal": "",
        "intervals": intervals,
        "friedman": compared.friedman,
        "p": compared.friedman_p,
        "critical": compared.critical_difference,
    }
