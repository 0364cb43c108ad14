"""The command lines that fill or repeat results."""

import json
import shlex

from metrics.protocol import OPTIONAL
from runners.grid import RESERVED
from scripts.core.conf import CONF, read
from scripts.core.words import COMPLETE, NOT_RUN


def commands(cells, study, protocol_name, overrides, methods, datasets, experiment=None):
    """The command lines that fill the cells which are not complete.

    Parameters
    ----------
    cells : DataFrame
    study, protocol_name : str
    overrides : list of str
        Fields of the study's protocol that differ from its file, such as "protocol.seed=1".
    methods, datasets : collection of str
        What conf/ has; other cells cannot be run.
    experiment : str, optional
        Where nothing of a whole table is stored, the experiment of this name that fills it, if there is one.

    Returns
    -------
    commands : list of str
        One for each set of data sets that lack the same methods.
    unknown : list of str
        Methods and data sets of the table that conf/ does not have.
    """
    open_cells = cells[(cells["clusterer"] == "kmeans") & (cells["status"] != COMPLETE)]
    unknown = [name for name in dict.fromkeys(open_cells["method"]) if name not in methods]
    unknown += [name for name in dict.fromkeys(open_cells["dataset"]) if name not in datasets]
    runnable = open_cells[open_cells["method"].isin(methods) & open_cells["dataset"].isin(datasets)]
    if (cells["status"] == NOT_RUN).all() and (CONF / "experiment" / f"{experiment}.yaml").exists():
        return [f"python run.py experiment={experiment}"], unknown
    groups = {}
    for dataset in cells["dataset"].unique():
        if wanted := tuple(runnable.loc[runnable["dataset"] == dataset, "method"]):
            groups.setdefault(wanted, []).append(dataset)
    settings = [f"protocol={protocol_name}", *([f"study={study}"] if study != protocol_name else []), *overrides]
    lines = []
    for wanted, names in groups.items():
        sweep = ["-m"] if len(wanted) * len(names) > 1 else []
        words = ["python", "run.py", *sweep, *settings, f"method={','.join(wanted)}", f"dataset={','.join(names)}"]
        lines.append(shlex.join(words))
    return lines, unknown


def overrides_of(protocol, stored):
    """What to add to ``protocol=NAME`` so that it is the protocol of the stored trials.

    Parameters
    ----------
    protocol, stored : Mapping
        The file of conf/protocol, and the fields in the trials.

    Returns
    -------
    list of str
    """
    lines = [f"protocol.{name}=null" for name in protocol if name not in stored and protocol[name]]
    for name, value in stored.items():
        if value != protocol.get(name):
            text = json.dumps(value).replace(" ", "").replace('"', "")
            lines.append(f"{'' if name in protocol else '+'}protocol.{name}={text}")
    return lines


def command(row):
    """The command line that runs this point again, in a study of its own; None where conf/ lacks what it needs.

    Where the size is part of the model it runs the point at all sizes of the protocol.
    """
    protocol, params = json.loads(row["protocol"]), json.loads(row["params"])
    names = {"protocol": protocol["name"], "method": row["method"], "dataset": row["dataset"]}
    files = {group: CONF / group / f"{name}.yaml" for group, name in names.items()}
    if not all(path.exists() for path in files.values()):
        return None
    settings, method = read(files["protocol"]), read(files["method"])
    words = ["python", "run.py", *(f"{group}={name}" for group, name in names.items())]
    words += overrides_of(settings, {name: value for name, value in protocol.items() if name not in OPTIONAL})
    # The grid is given below, so that what would replace or thin it is taken away.
    empty = {"grid_values": "[]", "coarse": "false", "budget": "0"}
    words += [f"protocol.{name}={value}" for name, value in empty.items() if settings.get(name)]
    words += [f"method.grid.{name}=[{_word(params[name])}]" for name in method["grid"] if name in params]
    fixed = {name: value for name, value in params.items() if name not in {*RESERVED, *method["grid"]}}
    words += [
        f"{'' if name in method['params'] else '+'}method.params.{name}={_word(value)}"
        for name, value in fixed.items()
        if method["params"].get(name) != value
    ]
    return shlex.join([*words, f"study=repeat_{protocol['name']}"])


def _word(value):
    return json.dumps(value).replace(" ", "")
