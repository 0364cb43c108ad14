"""A word that has no effect, is mistyped or cannot be read is answered in one line, before any work."""

import re

import forked
import numpy as np
import pytest
from hydra import compose, initialize_config_dir
from hydra.core.override_parser.overrides_parser import OverridesParser

from ufs_bench.metrics.evaluate import evaluate
from ufs_bench.metrics.protocol import Protocol, same_values
from ufs_bench.runners.cli.boundary import words_of
from ufs_bench.runners.cli.choices import check_choices, check_protocol, offer
from ufs_bench.runners.cli.help import GROUPS, refused
from ufs_bench.runners.experiment.cell import Cell
from ufs_bench.runners.experiment.kinds import check_fields, one_of, read_back
from ufs_bench.runners.experiment.method import load_class
from ufs_bench.runners.experiment.settings import shown
from ufs_bench.runners.experiment.sweep import cells_of, typed_words, with_lists
from ufs_bench.runners.messages import ConfigError, did_you_mean
from ufs_bench.scripts.core.conf import ROOT

PROTOCOL = {"name": "p", "sizes": (2,), "scaling": "none", "restarts": 2, "seed": 0, "nmi": "max", "max_iter": 5}
FILES = {
    "experiment/mistyped": "# @package _global_\nstudie: mine\n",
    "method/listed": "name: listed\ntarget: methods.laplacian_score.LaplacianScore\nparams: []\ngrid: {}\n",
    "method/no_yaml": "name: [\n",
    "method/list": "- 1\n",
    "method/nothing": "",
    "method/raising": "name: raising\ntarget: our_raising.X\nparams: {}\ngrid: {}\n",
}
# Without method= a cell is laplacian_score on digits, by the protocol smoke.
REFUSED = [
    # names of files of conf/
    ("method=mcsf", "method=mcsf: there is no method of this name. Did you mean mcfs?"),
    ("dataset=pie11p", "dataset=pie11p: there is no dataset of this name. Did you mean pie10p?"),
    ("-m dataset=umits,orl", "dataset=umits: there is no dataset of this name. Did you mean umist?"),
    ("dataset=umist -m method=mcsf", "there is no method of this name. Did you mean mcfs?"),
    ("dataset=null", "dataset=None: there is no dataset of this name"),
    ("dataset=[pie10p,orl]", "has several values: add -m for a sweep over them"),
    ("method=mcfs,dgufs", "method=mcfs,dgufs has several values: add -m for a sweep over them"),
    ("runner.points=1,2", "runner.points=1,2 has several values: add -m for a sweep over them"),
    (f"dataset={__file__}", f"for a table of your own: data={__file__}"),
    ("method=dgufs method.name=mine", "conf/method/dgufs.yaml: name is 'mine', it must be that of the file"),
    ("protocol.name=mine", "conf/protocol/smoke.yaml: name is 'mine'"),
    ("experiment=mistyped", "'studie' is no part of a configuration; it has: study, "),
    ("method=listed", "method.params=[] must be a mapping of parameters"),
    ("method=no_yaml", "no_yaml.yaml"),
    ("method=list", "method=[1] must be a file of conf/method"),
    ("method=nothing", "the file of the method lacks 'name'"),
    ("method=raising", "'our_raising.X' cannot be imported"),
    # options
    ("metod=mcfs", "metod is no option. Did you mean method?"),
    ("+metod=mcfs", "'metod' is no part of a configuration; it has: study, "),
    ("lable=x", "lable is no option. Did you mean label?"),
    ("label=x", "label= is about data=FILE, a table of your own: name its file, too"),
    ("runner.n_job=2", "runner.n_job is no option of runner. Did you mean n_jobs?"),
    ("protocol.clusters=half", "write ++protocol.clusters=... to add it"),
    ("+protocol.restart=3", "Did you mean restarts?"),
    ("method=socfs method.params.max_itr=9", "is no option of method.params. Did you mean max_iter?"),
    ("method=socfs method.params.max_iter=9", "write ++method.params.max_iter=... to add it"),
    ("method=mcfs +method.grid.ridg=[1]", "Did you mean ridge?"),
    ("method=mcfs method.grid.ridg=[1]", "no option of method.grid. Did you mean ridge?"),
    ("method=mcfs method.grid.ridge=[1]", "write ++method.grid.ridge=... to add it"),
    ("+method.gird={n_neighbors:[3]}", "method has no option gird. Did you mean grid? It has: name, target, "),
    ("~method", "~method takes away a part of a run: leave this word out."),
    ("~datasets", "~datasets takes away a part of a run"),
    ("study=a(b", "study=a(b cannot be read. Put quotes within quotes around a text"),
    ("~protocol.nmi", "the protocol lacks nmi"),
    ("~method.params", "the method lacks params"),
    ("--study h4", "options have no dashes here: write study=h4"),
    ("--shell-completion", "--shell-completion takes one of install=bash"),
    ("--experimental-rerun x", "--experimental-rerun is not taken: give the words of the run again"),
    # values
    ("study=reference", "study=reference is the folder of the shipped results"),
    ("study=2024", "study=2024 must be a text, such as study=s2024"),
    ("study=null", "study=None must be a text"),
    ("study=[]", "study=[] must be a text"),
    ("study=''", "study='' must be a name of 1 to 100 letters, digits and"),
    ("study='[k]'", "study='[k]' must be a name"),
    ("study=../../x", "study='../../x' must be a name"),
    ("study=/tmp/x", "study='/tmp/x' must be a name"),
    (f"study={'x' * 300}", "xxx... must be a name"),
    ("-m study=../out", "study='../out' must be a name"),
    ("runner.n_jobs=0", "runner.n_jobs=0 must be -1 for every core"),
    ("runner.max_seconds=0", "runner.max_seconds=0 must be a number of CPU seconds above 0"),
    ("runner.max_seconds=1h", "runner.max_seconds='1h' must be a number of CPU seconds above 0"),
    ("runner.max_memory=true", "runner.max_memory=true must be a number of GB above 0"),
    ("runner.retry=[timeouts]", "must be a list of failed, timeout, out_of_memory"),
    ("runner.retry='timeout,failed'", "must be a list of failed, timeout, out_of_memory"),
    ("protocol.sizes=[5,5]", "protocol.sizes=[5, 5] has 5 twice: remove one."),
    ("protocol.sizes=40", "protocol.sizes=40 must be a list"),
    ("protocol.restarts=0", "protocol.restarts=0 must be"),
    ("protocol.restarts=1e25", "protocol.restarts=1e+25 must be a whole number"),
    (f"protocol.seed={2**70}", "must be a number of at most 64 bits"),
    ("protocol.scaling=max", "none, minmax, zscore, unit_norm, unit_features"),
    ("+protocol.grid_values=0.5", "protocol.grid_values=0.5 must be a list of numbers"),
    ("+protocol.grid_values=[1,0.1,1.0]", "protocol.grid_values has 1 and 1.0, which are the same value: remove one."),
    ("+protocol.sizes_for=20", "protocol.sizes_for=20 must be a mapping"),
    ("+protocol.sizes_for={digits:[3,4,3]}", "protocol.sizes_for.digits=[3, 4, 3] has 3 twice: remove one."),
    ("+protocol.sizes_for={digit:[3]}", "digit is no file of conf/dataset. Did you mean digits?"),
    ("+protocol.sizes_for={mcfs:[3]}", "protocol.sizes_for.mcfs would have no effect: mcfs is no file of conf/"),
    ("dataset.citation=''", "citation='' must be a text"),
    ("dataset.samples=many", "samples='many' must be an int"),
    ("method.target=1", "method.target=1 must be a text"),
    ("method.target=os.system", "method.target='os.system' is a part of Python, and no method"),
    ("method.params=abc", "method.params=abc must be a mapping"),
    ("method=mcfs method.params.affinity=gauss", "affinity='gauss' must be one of"),
    ("method=kmeans_ufs method.params.standardize=no", "method.params.standardize='no' must be true or false"),
    ("method=dgufs method.params.alpha=3.0", "Set 'method.grid.alpha=[3.0]', too"),
    ("method=dgufs method.grid.beta=[2.0]", "beta=2.0"),
    ("++method.params.n_neighbors=nan", "method.params.n_neighbors=nan must be finite"),
    ("+method.grid.n_neighbors=[inf]", "method.grid.n_neighbors=inf must be finite"),
    ("+method.grid.n_neighbors=[5,3,5.0]", "method.grid.n_neighbors has 5 and 5.0, which are the same value"),
    ("+method.grid.random_state=[1]", "method.grid.random_state is set by the runner: give protocol.seed and"),
]


@pytest.fixture(scope="module")
def conf(tmp_path_factory):
    """Return a folder with wrong files."""
    folder = tmp_path_factory.mktemp("conf")
    for name, text in FILES.items():
        path = folder / f"{name}.yaml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return folder


def answer(words, conf):
    """Return what run.py answers to words before its first fit."""
    if said := refused(words, GROUPS):
        return said
    try:
        with initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
            given = [word for word in with_lists(offer(words)) if word != "-m"]
            config = compose("config", [f"hydra.searchpath=[file://{conf}]", *given], return_hydra_config=True)
            for settings in cells_of(config, config.hydra):
                check_protocol(settings.protocol)
                check_choices(settings, typed_words(config.hydra))
                assert Cell(settings).planned
    except Exception as error:
        return words_of(error) or repr(error)


@pytest.mark.parametrize(("words", "said"), REFUSED)
def test_what_cannot_be_meant_is_refused_in_one_line_that_names_value_and_remedy(conf, tmp_path, words, said):
    given = re.split(r" (?=\S+)", words)
    usual = {"method": "laplacian_score", "dataset": "digits", "protocol": "smoke"}
    names = {word.partition("=")[0] for word in given}
    given += [f"{group}={name}" for group, name in usual.items() if group not in names and f"~{group}" not in names]
    found = answer([*given, f"results_dir={tmp_path}"], conf)
    assert said in found and len(found.splitlines()) == 1 and not any(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("run.py -m study=own method=mcsf,ndfs", "method=mcsf: there is no method of this name. Did you mean mcfs?"),
        ("run.py method=dgufs method.grid.beta=[2.0]", "beta=2.0"),
        ("-m scripts.make_report selecton=stability", "has no option selecton. Did you mean selection?"),
        ("-m scripts.make_report --study h4", "options have no dashes here: write study=h4"),
    ],
)
def test_a_command_prints_the_line_alone_and_does_nothing(tmp_path, command, said):
    done = forked.run([*command.split(), f"results_dir={tmp_path}"], ROOT)
    output = done.stdout + done.stderr
    assert done.returncode == 1 and said in output and output.count("error: ") == 1 and "Traceback" not in output
    assert not any(tmp_path.iterdir())


def test_hydras_own_options_pass_and_others_are_named_with_their_value():
    assert refused("-m --multirun --cfg job --config-dir my --help study=a a.b='--c'".split()) is None
    assert "write study=h4" in refused(["--study=h4"])
    assert "write results_dir=x" in refused(["study=a", "--results-dir", "x"])
    assert "write quiet=..." in refused(["--quiet", "study=a"])


def test_names_without_their_options_are_answered_with_them():
    assert refused(["mcfs", "mnist500"], GROUPS).endswith("Did you mean method=mcfs dataset=mnist500?")
    assert refused(["mcsf", "mnist500"], GROUPS).endswith("Did you mean mcfs?")
    assert refused(["mcfs"]) == "mcfs: options have the form NAME=VALUE."
    for words in (["-m", "method=mcfs,rufs"], ["--config-dir", "here", "~method.grid.alpha"], ["-sc", "install=bash"]):
        assert refused(words) is None


def test_two_values_of_an_option_are_refused_and_the_same_one_twice_passes():
    assert refused(["method=mcfs", "a=1", "method=udfs"]) == (
        "method=mcfs and method=udfs give method two values: leave one out."
    )
    assert "+a=1 and ++a=2 give a two values" in refused(["+a=1", "++a=2"])
    assert refused(["method=mcfs", "method=mcfs", "method.params.a=1", "~method.params.b"]) is None


@pytest.mark.parametrize("name", ["nan", "true", "null", "inf", "mine"])
def test_a_name_that_hydra_reads_as_something_else_is_put_in_quotes(name):
    assert OverridesParser.create().parse_override(f"dataset={read_back(name)}").value() == name


def test_help_has_the_options_and_what_there_is_to_choose_from():
    done = forked.run([str(ROOT / "run.py"), "--help"], ROOT)
    for part in ("Exit status", "python run.py -m method=mcfs,dgufs", "umist", "laplacian_score"):
        assert done.returncode == 0 and part in done.stdout


def test_the_nearest_name_is_found_whatever_its_letters(tmp_path, monkeypatch):
    assert did_you_mean("MCFS", ["mcfs", "rufs"]) == " Did you mean mcfs?"
    with pytest.raises(ConfigError, match=r"paper=dgfus must be one of rufs, dgufs\. Did you mean dgufs\?"):
        check_fields("compare", {"paper": "dgfus"}, {"paper": one_of("rufs", "dgufs")})
    (tmp_path / "mysel.py").touch()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match=r"No module named 'mysle' Did you mean mysel\?"):
        load_class("mysle.Spread")
    with pytest.raises(ConfigError, match=r"Did you mean MCFS\?"):
        load_class("methods.mcfs.MCSF")


@pytest.mark.parametrize("values", [[1, 2, 1.0], [0.0, -0.0], [0.1, 1e-1], ["heat", "heat"], [[1], [1.0]]])
def test_a_value_that_is_there_twice_is_found(values):
    assert same_values(values) == (values[0], values[-1])
    assert same_values([True, 1, 0, False, "1", 2.0]) is None


def test_a_number_of_any_length_can_be_shown():
    assert shown(10**5000).startswith("0x") and len(shown(-(10**5000))) <= 80 and shown(2**70) == str(2**70)


@pytest.mark.parametrize(
    "features, words",
    [
        ([0, 2, 2], r"features has 2 2 times, and may have it once: remove the others"),
        ([0, -1], r"features has -1, which must be in \[0, n_features=4\)"),
        ([1, 4], r"features has 4, which must be in \[0, n_features=4\): count the columns of X from 0"),
        ([0.0, 1.0], "type float64 must be a list of one or more whole numbers"),
        ([True, False, True, True], "type bool must be a list"),
        ([], r"shape \(0,\)"),
        ([[0, 1]], r"shape \(1, 2\)"),
        (2, r"shape \(\)"),
    ],
)
def test_features_that_are_no_set_of_columns_are_refused(features, words):
    X, y = np.random.default_rng(0).normal(size=(12, 4)), np.arange(12) % 3
    with pytest.raises(ValueError, match=words):
        evaluate(features, X, y, Protocol(**PROTOCOL))
    scores = [evaluate(right, X, y, Protocol(**PROTOCOL))[0] for right in ([3, 0], np.array([0, 3], dtype=np.uint8))]
    np.testing.assert_array_equal(*scores)
