"""Classes and functions of a notebook or of a script: their source, and the values that they use.

The texts tell all that changes what they compute; a TypeError or an OSError says that nothing is known of them.
"""

import dis
import functools
import hashlib
import inspect
import sys
import textwrap
import types
from collections.abc import Iterator

from runners.code.opened import is_installed

# Names that a class has by itself, or that say nothing that its source does not.
GIVEN = {
    *("__dict__", "__weakref__", "__doc__", "__module__", "__qualname__", "__annotations__", "__annotate__"),
    *("__annotate_func__", "__annotations_cache__", "__firstlineno__", "__static_attributes__", "__abstractmethods__"),
    *("_abc_impl", "__parameters__", "__orig_bases__", "__classcell__", "__repr__", "__str__"),
}
DYNAMIC = {"globals", "locals", "vars", "eval", "exec", "compile"}  # give things by names that are computed
PLAIN = (bool, int, float, complex, str, bytes, range, slice, type(None), type(Ellipsis))
DESCRIPTORS = (types.MemberDescriptorType, types.GetSetDescriptorType, types.WrapperDescriptorType)


def has_file(what):
    """Return True where a class or function is of a module that is a file, which is then known by its text.

    A script is not: it gives its names other values while it runs, and takes them from its command line.
    """
    return what.__module__ != "__main__" and bool(getattr(sys.modules.get(what.__module__), "__file__", None))


def texts_of(what) -> Iterator[str]:
    """Yield texts that together change whenever something of a class or function without a file does."""
    return _of(what, set())


def _of_class(cls, seen):
    if cls in seen:
        return
    seen.add(cls)
    yield f"kind = {'class ' + cls.__qualname__!r}"
    yield from _of(type(cls), seen)
    for base in cls.__bases__:
        yield "kind = 'base'"
        yield from _of(base, seen)
    for name, value in sorted(vars(cls).items()):
        if name not in GIVEN:
            yield f"attribute = {name!r}"
            yield from _of(value, seen)


def _of_function(function, seen):
    """Yield the source of a function itself, not of what it wraps, and all values that it takes from elsewhere."""
    if function in seen:
        return
    seen.add(function)
    yield textwrap.dedent(inspect.getsource(function.__code__))
    if function.__name__ == "<lambda>":  # its source is the line, which may have several
        yield f"code = {(function.__code__.co_code, function.__code__.co_names)!r}"
    codes, names = [function.__code__], set()
    for code in codes:
        names |= {one.argval for one in dis.get_instructions(code) if one.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
        codes += [one for one in code.co_consts if inspect.iscode(one)]
    around = function.__globals__
    if computed := sorted(name for name in names & DYNAMIC if name not in around):
        raise TypeError(f"{function.__name__} calls {computed[0]}, and what that gives is not known")
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    used = {name: around[name] for name in names if name in around}
    used |= {name: cell.cell_contents for name, cell in cells}
    used |= {"defaults": function.__defaults__, "keyword defaults": function.__kwdefaults__}
    for name, value in sorted((used | vars(function)).items()):
        if inspect.ismodule(value):
            yield f"import {value.__name__} as {name}"
        elif _is_of_file(value):
            _check_current(value)
            yield f"from {value.__module__} import {value.__qualname__.partition('.')[0]} as {name}"
            yield f"name = {value.__qualname__!r}"
        else:
            yield f"name = {name!r}"
            yield from _of(value, seen)


def _is_of_file(value):
    """Return True where a class or function is known by the name that its module has for it."""
    return (
        (isinstance(value, type) or inspect.isroutine(value)) and _where(value) and has_file(value) and not _own(value)
    )


def _check_current(value):
    """Refuse what its module has no more, such as a function from before the module was loaded again."""
    found = module = sys.modules[value.__module__]
    for name in value.__qualname__.split("."):
        found = getattr(found, name, None)
    if found != value and not is_installed(module.__file__):
        raise TypeError(f"{value.__qualname__} is not what {value.__module__} has under this name now")


def _where(value):
    """Return True for what has a module and a name there; not for an object, or a method of one."""
    name = getattr(value, "__qualname__", "<")
    return bool(getattr(value, "__module__", None)) and "<" not in name and not _is_bound(value)


def _is_bound(value):
    """Return True for a method of an object, which computes with what that holds; those of a class have a name."""
    return not isinstance(getattr(value, "__self__", None), types.ModuleType | type | None)


def _own(value):
    """Return True for a function whose code is of another file than the module it says, such as one that wraps."""
    return inspect.isfunction(value) and value.__globals__.get("__name__") != value.__module__


def _of(value, seen):
    """Yield texts that tell a value from all others."""
    if isinstance(value, type):
        if value.__module__ == "builtins":
            yield f"builtin = {value.__qualname__!r}"
        elif has_file(value):
            _check_current(value)
            yield from _by_name(value)
        else:
            yield from _of_class(value, seen)
    elif inspect.isfunction(value):
        if _is_of_file(value):
            _check_current(value)
            yield from _by_name(value)
        else:
            yield from _of_function(value, seen)
    elif isinstance(value, PLAIN):
        yield f"value = {value!r}"
    elif isinstance(value, list | tuple | dict | set | frozenset):
        yield from _of_container(value, seen)
    elif isinstance(value, DESCRIPTORS):
        yield f"descriptor = {value.__name__!r}"
    elif inspect.ismodule(value):
        yield f"import {value.__name__}"
    elif type(value).__module__ == "numpy" and hasattr(value, "tobytes") and not value.dtype.hasobject:
        yield f"array = {(str(value.dtype), value.shape, hashlib.sha256(value.tobytes()).hexdigest())!r}"
    elif (parts := _parts_of(value)) is not None:
        yield f"kind = {type(value).__qualname__!r}"
        for part in parts:
            yield from _of(part, seen)
    elif _where(value) and has_file(value) and callable(value):  # such as a compiled function of a package
        yield from _by_name(value)
    elif isinstance(value, types.BuiltinFunctionType) and _is_bound(value):
        yield f"method = {value.__name__!r}"
        yield from _of(value.__self__, seen)
    elif isinstance(value, types.BuiltinFunctionType) or (
        type(value).__name__ == "ufunc" and any(set(one) - set("O->") for one in value.types)
    ):  # one of objects alone, of numpy.frompyfunc, calls a function that it does not name
        yield f"function = {(getattr(value, '__module__', ''), value.__name__)!r}"
    else:
        raise TypeError(f"what an object of {type(value).__qualname__} holds is not known")


def _by_name(value):
    yield f"from {value.__module__} import {value.__qualname__.partition('.')[0]}"
    yield f"name = {value.__qualname__!r}"  # one of a class, too


def _of_container(value, seen):
    if id(value) in seen:
        yield "again"
        return
    if not isinstance(value, tuple):
        seen.add(id(value))
    yield f"container = {(type(value).__qualname__, len(value))!r}"
    if type(value) not in (list, tuple, dict, set, frozenset):
        raise TypeError(f"what a {type(value).__qualname__} holds besides its items is not known")
    if isinstance(value, dict):
        for key, one in value.items():
            yield from _of(key, seen)
            yield from _of(one, seen)
    elif isinstance(value, set | frozenset):
        yield from sorted("\n".join(_of(one, seen)) for one in value)
    else:
        for one in value:
            yield from _of(one, seen)


def _parts_of(value):
    """Return what a known kind of object consists of; None for any other."""
    if isinstance(value, staticmethod | classmethod):
        return [value.__func__]
    if isinstance(value, types.MethodType):
        return [value.__func__, value.__self__]
    if isinstance(value, property):
        return [value.fget, value.fset, value.fdel]
    if isinstance(value, functools.cached_property):
        return [value.func]
    if isinstance(value, functools.partial | functools.partialmethod):
        return [value.func, value.args, value.keywords]
    if isinstance(value, functools._lru_cache_wrapper):
        return [value.__wrapped__]
    if hasattr(value, "py_func") and type(value).__module__.startswith("numba"):
        return [value.py_func, str(getattr(value, "targetoptions", ""))]
    return None
