"""The cells of a sweep, in the order in which Hydra runs them, and their configurations.

Hydra composes a job in a tenth of a second.  Most jobs of a sweep differ in the files of conf/dataset and conf/method
alone, and these fill a part of the configuration that nothing else touches: `Composer` lets Hydra compose one of such
jobs, and puts the other files in the place of its own.  Hydra composes a job where that is not certain.
"""

import contextlib
import copy
import functools
import itertools
import re
from contextlib import contextmanager
from dataclasses import dataclass

from hydra import compose, initialize_config_dir
from hydra.core.config_store import ConfigNode, ConfigStore
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

import ufs_bench.runners.place  # noqa: F401  # what ${root:} stands for
from ufs_bench.runners.code import ROOT
from ufs_bench.runners.errors import ConfigError
from ufs_bench.runners.experiment.settings import read_config

GROUPS = ("dataset", "method")  # whose files are put in the place of each other
CHOICE = re.compile(
    r"(\w+)=(?!(?:null|true|false|inf|nan)$)([a-z]\w*)", re.ASCII | re.IGNORECASE
)  # the choice of one file
# A value that points elsewhere, where it is plain what it depends on: a value of another part, the environment, or the
# checkout.
POINTER = re.compile(r"\$\{(?:(\w+)(?:\.\w+)*|oc\.env:\w+(?:,[\w./-]*)?|root:)\}")
PAIR = re.compile(r"\$\{(\w+)\}")  # in a defaults list, such as "${dataset}_${method}"


@dataclass(frozen=True)
class Base:
    """A job that Hydra has composed, in whose place others stand."""

    config: dict  # composed and resolved
    choices: dict  # group -> file
    free: set  # groups whose files may be replaced


class Composer:
    """Composes the jobs of a sweep, exactly as Hydra does, from its configuration, with `more` words for each job."""

    def __init__(self, config, more=()):
        self._loader, self._sweep = GlobalHydra.instance().config_loader(), config
        self._name, self._more = config.hydra.job.config_name, (*more, *config.hydra.overrides.hydra)
        self._bases = {}
        # Each file is read once.
        self._file = functools.cache(self._read_file)
        self._content = functools.cache(self._read_content)
        self._interpolated = functools.cache(self._read_interpolated)

    def job(self, words):
        """Return the configuration of a job, a dict where it can be resolved, else a DictConfig; and group -> file."""
        given = [match for word in words if (match := CHOICE.fullmatch(word)) and match[1] in GROUPS]
        touched = {re.match(r"[+~]*(\w*)", word)[1] for word in words if not CHOICE.fullmatch(word)}
        free = {match[1]: match[2] for match in given if match[1] not in touched}
        free = {group: name for group, name in free.items() if self._content(group, name) is not None}
        key = (*free, *(word for word in words if word.partition("=")[0] not in free))
        if not free or any(word.startswith(f"{group}=") for word in words for group in self._own({})):
            return self._by_hydra(words)
        if (base := self._bases.get(key)) is None:
            return self._by_hydra(words, key)
        choices = base.choices | free
        if not free.keys() <= base.free or self._has_own_file(choices):
            return self._by_hydra(words)
        before = self._own(base.choices)
        choices |= {
            group: name for group, name in self._own(choices).items() if base.choices.get(group) == before[group]
        }
        parts = {group: self._content(group, name) for group, name in free.items()}
        return copy.deepcopy(base.config | parts), choices

    def _by_hydra(self, words, key=None):
        """Return a job as Hydra composes it; where it has a key, others may be made from it."""
        composed = compose(self._name, [*self._more, *words], return_hydra_config=True)
        OmegaConf.copy_cache(from_config=self._sweep, to_config=composed)  # one time of day for all jobs
        choices = OmegaConf.to_container(composed.hydra.runtime.choices)
        config = OmegaConf.masked_copy(composed, [name for name in composed if name != "hydra"])
        try:
            plain = OmegaConf.to_container(config, resolve=True)
        except OmegaConfBaseException:
            return config, choices
        if key is not None and not self._has_own_file(choices):
            self._bases[key] = Base(copy.deepcopy(plain), choices, self._free(words, composed, config))
        return plain, choices

    def _free(self, words, composed, config):
        """Return the groups whose file is all that fills their part of a job, and that no other part depends on."""
        sources = [(source.provider, source.path) for source in self._loader.get_sources()]
        if sources != [(source.provider, source.path) for source in composed.hydra.runtime.config_sources]:
            return set()  # hydra.searchpath adds folders, in which there may be anything
        defaults = self._loader.compute_defaults_list(self._name, [*self._more, *words], RunMode.RUN).defaults
        files = [default for default in defaults if not default.config_path.startswith("hydra/")]
        others = {file.config_path for file in files} - {self._name}
        if self._interpolated(self._name) is None or any(self._interpolated(path) != {} for path in others):
            return set()
        content, free = OmegaConf.to_container(config), set()
        for group in GROUPS:
            own = f"{group}/{composed.hydra.runtime.choices.get(group)}"
            placed = [(file.package, file.parent) for file in files if file.config_path == own]
            others = {part for file in files if file.config_path != own for part in self._parts(file)}
            texts = _texts({name: part for name, part in content.items() if name != group})
            alone = placed == [(group, self._name)] and group not in others
            if alone and all(
                "${" not in POINTER.sub("", text) and group not in POINTER.findall(text) for text in texts
            ):
                free.add(group)
        return free

    def _parts(self, file):
        """Return the parts of the configuration that a file fills."""
        if file.package:
            return {file.package.partition(".")[0]}
        content = self._file(file.config_path).config
        return set(content) if isinstance(content, DictConfig) else set(GROUPS)

    def _own(self, choices):
        """Return group -> the file that the defaults list has for these choices alone, such as cell: umist_mcfs."""
        found = self._interpolated(self._name) or {}
        return {group: PAIR.sub(lambda match: str(choices.get(match[1])), text) for group, text in found.items()}

    def _has_own_file(self, choices):
        return any(self._file(f"{group}/{name}") is not None for group, name in self._own(choices).items())

    def _read_file(self, path):
        """Return a file as Hydra finds and reads it; None where there is none."""
        found = (source for source in self._loader.get_sources() if source.is_config(path))
        return next((source.load_config(path) for source in found), None)

    def _read_content(self, group, name):
        """Return the content that fills a group's part, where a file is no more than that; None for others."""
        found = self._file(f"{group}/{name}")
        if found is None or found.header.get("package") or not isinstance(found.config, DictConfig):
            return None
        content = OmegaConf.to_container(found.config)
        return None if "defaults" in content or any("${" in text for text in _texts(content)) else content

    def _read_interpolated(self, path):
        """Return group -> text, of what in a file's defaults list depends on choices; None where that is not simple."""
        found = self._file(path)
        content = OmegaConf.to_container(found.config) if found and isinstance(found.config, DictConfig) else None
        if content is None:
            return None
        entries = [entry for entry in content.get("defaults", []) if "$" in str(entry)]
        if not all(isinstance(entry, dict) for entry in entries):
            return None
        groups = {key.removeprefix("optional "): text for entry in entries for key, text in entry.items()}
        simple = all(group.isidentifier() and "$" not in PAIR.sub("", text) for group, text in groups.items())
        return groups if simple else None


def jobs_of(hydra):
    """List the overrides of each job of a sweep, such as ``["dataset=umist", "method=mcfs"]``, in order."""
    params = hydra.sweeper.params or OmegaConf.create()  # null where all overrides are typed
    words = [f"{name}={value}" for name, value in OmegaConf.to_container(params, resolve=True).items()]
    words += OmegaConf.to_container(hydra.overrides.task)  # as they were typed: "study=${method.name}" is of each job
    parser, options = OverridesParser.create(config_loader=GlobalHydra.instance().config_loader()), {}
    for word in parser.parse_overrides(words):  # the last one of a name counts, in the place of the first
        name, several = word.get_key_element(), word.is_sweep_override()
        if several and not word.is_discrete_sweep():
            raise ConfigError(f"{word.input_line} has no list of values to go through: write {name}=1,2,3.")
        values = word.sweep_string_iterator() if several else [word.get_value_element_as_str()]
        options[name] = [f"{name}={value}" for value in values]
        if not options[name]:
            raise ConfigError(f"{word.input_line} matches nothing: there is no {name} of such a name.")
    return [list(job) for job in itertools.product(*options.values())]


def offer_truth():
    """Give Hydra the specification of every data set of known truth, so that names, lists and globs find them."""
    from ufs_bench.datasets.truth import truth_names  # here, as few commands name such a data set

    store = ConfigStore.instance().repo
    store["dataset"] = _Shared({f"{name}.yaml": _Truth(name) for name in truth_names()} | store.get("dataset", {}))


class _Shared(dict):
    """The nodes of a group, of which all jobs have the same: Hydra copies its whole store for every job."""

    def __deepcopy__(self, _memo):
        return self


class _Truth(ConfigNode):
    """The node of a data set of known truth, read where its content is asked for: lists of names need none."""

    def __init__(self, name):
        self.name, self.group, self.package, self.provider = f"{name}.yaml", "dataset", None, "conf/truth"

    @functools.cached_property
    def node(self):
        """The specification of the data set."""
        from ufs_bench.datasets.spec import read_spec

        return OmegaConf.create(read_spec(self.name.removesuffix(".yaml")))


def cells_of_words(*words):
    """Return the settings of all cells of a sweep, as ``python run.py -m`` composes them from these words."""
    with _whole_conf():
        loader = GlobalHydra.instance().config_loader()
        return _cells(loader.load_configuration("config", list(words), run_mode=RunMode.MULTIRUN))


def cells_of_sweep(path):
    """Return the settings of the cells of a sweep that was run; `path` is its multirun.yaml.

    Left out are cells that cannot be composed any more: of methods and data that a command line named by their file or
    target, and of what was removed since.
    """
    config = OmegaConf.load(path)
    sources = config.hydra.runtime.config_sources
    # Those of --config-dir, and of hydra.searchpath, of which Hydra takes the first.
    own = [f"{source.schema}://{source.path}" for source in sources if "command-line" in source.provider]
    with _whole_conf():
        return _cells(config, lenient=True, more=[f"hydra.searchpath={own}"] if own else [])


def _cells(config, lenient=False, more=()):
    composer, cells = Composer(config, more), []
    for words in jobs_of(config.hydra):
        with contextlib.suppress(*((HydraException, ConfigError) if lenient else ())):
            cells.append(read_config(composer.job(words)[0]))
    return tuple(cells)


@contextmanager
def _whole_conf():
    """Compose from conf/ itself, also inside a command whose own configuration is from a subfolder of it."""
    there = GlobalHydra.instance()
    before = there.hydra
    there.clear()
    offer_truth()
    try:
        with initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
            yield
    finally:
        if before is not None:
            GlobalHydra.instance().initialize(before)


def _texts(value):
    """Return all texts in a value, keys as well, however nested."""
    if isinstance(value, dict):
        return [text for item in value.items() for part in item for text in _texts(part)]
    if isinstance(value, list):
        return [text for part in value for text in _texts(part)]
    return [value] if isinstance(value, str) else []
