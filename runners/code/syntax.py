"""The digest of a source's syntax tree, what it imports, and what of the environment it reads.

What cannot change a number is left out of the digest: comments, layout, docstrings, annotations that nothing looks at,
``__repr__`` and ``__str__``, and the messages of ``assert``, and of ``raise`` and ``warn`` in functions.  A message is
an argument that is a text: ``raise Found(x)`` keeps its x.  A call in a message before a ``raise`` is left out
with it, as its effects reach no number that is stored; a call in that of a ``warn``, after which the code goes on,
keeps the message.  A local variable that only messages use belongs to them.
"""

import ast
import functools
import hashlib
import re
from typing import NamedTuple

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
SHOWN = ("__repr__", "__str__")
# Functions that a message may call without an effect on anything else.
HARMLESS = {"str", "repr", "len", "type", "sorted", "map", "list", "set", "sum", "min", "max", "int", "float", "round"}
FIELDS = ("ClassVar", "InitVar", "KW_ONLY")  # a dataclass looks at these annotations
BINDING = (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)
IMPORTERS = ("import_module", "__import__")
# Functions that take modules by names that are computed or stored, so that no import shows them.
LOADERS = {"spec_from_file_location", "run_path", "run_module"}
FINDERS = LOADERS | {"exec", "eval", "pickle", "cloudpickle", "dill", "joblib"}
ENVIRONMENT = ("environ", "environb", "getenv", "getenvb", "expandvars")
# Decorators that look at no annotation; any other may, as one that compiles a class or checks arguments does.
BLIND = {"dataclass", "staticmethod", "classmethod", "property", "cached_property", "cache", "lru_cache", "wraps"}
BLIND |= {"abstractmethod", "contextmanager", "setter", "compiled", "_compiled", "njit", "jit"}


class Source(NamedTuple):
    """The facts that a source text alone says."""

    digest: str
    imports: tuple  # (module, ((name, own name), ...)), without names for a plain import
    hands_on: bool  # only imports, so that whoever uses a name from here rests on the module that defines it
    environment: tuple  # names of the variables of the environment that it reads; None stands for any
    calls: bool  # something is called while it is imported, besides imports
    finds: bool  # it may reach modules that no import of it names


@functools.cache
def read(data):
    """Return the `Source` of bytes."""
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError):  # not Python source, such as a compiled module
        return Source(hashlib.sha256(data).hexdigest(), (), False, (), True, True)
    nodes = list(ast.walk(tree))
    digest, imports, variables = hashlib.sha256(), [], set()
    _digest(tree, digest.update, _without_effect(nodes))
    parents, finds = {}, False
    if any(name.encode() in data for name in ENVIRONMENT):
        parents = {id(child): node for node in nodes for child in ast.iter_child_nodes(node)}
    for node in nodes:
        if isinstance(node, ast.Import):
            imports += [(alias.name, ()) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            imports.append((module, tuple((alias.name, alias.asname or alias.name) for alias in node.names)))
            variables |= {None for one in node.names if one.name in ENVIRONMENT and one.asname}
        elif isinstance(node, ast.Call) and _last_name(node.func) in IMPORTERS and _text_in(node.args):
            imports.append((_text_in(node.args), ()))
        elif isinstance(node, ast.Call) and _last_name(node.func) in IMPORTERS:
            finds = True
        elif isinstance(node, ast.Constant) and parents and node.value in ENVIRONMENT:
            variables.add(None)
        elif parents and isinstance(node, ast.Name | ast.Attribute) and _last_name(node) in ENVIRONMENT:
            variables |= _variables(node, parents)
        finds = finds or _finds(node)
    hands_on = bool(tree.body) and all(_is_import(node) for node in tree.body)
    return Source(digest.hexdigest(), tuple(imports), hands_on, tuple(sorted(variables, key=str)), _calls(tree), finds)


def _calls(node):
    """Return True where a statement outside functions calls something."""
    if isinstance(node, ast.Call) and not (_last_name(node.func) in IMPORTERS and _text_in(node.args)):
        return True
    parts = node.decorator_list if isinstance(node, FUNCTIONS) else ast.iter_child_nodes(node)
    return not isinstance(node, ast.Lambda) and any(_calls(part) for part in parts)


def _variables(node, parents):
    """Return the names of the variables that are read through ``environ`` or ``getenv``; None stands for any."""
    above = parents.get(id(node))
    if _last_name(node) == "expandvars":
        text = _text_in(above.args) if isinstance(above, ast.Call) and above.func is node else None
        return {None} if text is None else set(re.findall(r"\$\{?(\w+)", text))
    if isinstance(above, ast.Attribute) and above.attr in ("get", "setdefault", "pop"):
        node, above = above, parents.get(id(above))
    if isinstance(above, ast.Call) and above.func is node:
        return {_text_in(above.args)}
    if isinstance(above, ast.Subscript) and above.value is node:
        return {_text_in([above.slice])} if isinstance(above.ctx, ast.Load) else set()
    handed_on = isinstance(above, ast.keyword) and above.arg in ("env", "environment")
    if handed_on or isinstance(above, ast.Dict | ast.BinOp):
        return set()  # all of it, for another program
    if isinstance(above, ast.Compare) and node in above.comparators:
        return {_text_in([above.left])}
    return {None}


def _text_in(arguments):
    """Return the first argument where it is a text, else None."""
    first = arguments[0] if arguments else None
    return first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else None


def _finds(node):
    """Return True for a name by which code may take modules that no import of it shows."""
    if isinstance(node, ast.Attribute):
        return node.attr in LOADERS or (node.attr == "modules" and _last_name(node.value) == "sys")
    name = node.name if isinstance(node, ast.alias) else getattr(node, "id", "")
    return name.partition(".")[0] in FINDERS


def _last_name(node):
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _is_import(node):
    if isinstance(node, ast.Assign):
        return [getattr(target, "id", "") for target in node.targets] == ["__all__"]
    return isinstance(node, ast.Import | ast.ImportFrom) or _is_docstring(node)


def _is_docstring(node):
    """Return True where a statement is a docstring, or another text without effect."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _without_effect(nodes):
    """Return the identities of the nodes of a tree that cannot change a number."""
    left_out, inside, kept = set(), set(), set()  # kept: what has an annotation that something may look at
    for node in nodes:  # those of a function come after it
        if _is_docstring(node):
            left_out.add(id(node))
        elif isinstance(node, ast.AnnAssign | ast.arg) and id(node) not in kept:
            if node.annotation and not any(_last_name(part) in FIELDS for part in ast.walk(node.annotation)):
                left_out.add(id(node.annotation))
        elif isinstance(node, ast.Assert):
            left_out.add(id(node.msg))
        elif isinstance(node, ast.ClassDef):
            left_out |= {id(one) for one in node.body if isinstance(one, FUNCTIONS) and one.name in SHOWN}
            if any(_last_name(base) != "NamedTuple" for base in node.bases) or _is_looked_at(node):
                kept |= {id(one) for one in node.body}
        elif isinstance(node, FUNCTIONS):
            if _is_looked_at(node):
                kept |= {id(one) for one in ast.walk(node.args)}
            left_out.add(id(node.returns))
            if id(node) not in inside:  # nested ones are looked at with the one around them
                below = list(_below(node))
                inside |= {id(one) for one in below if isinstance(one, FUNCTIONS)}
                left_out |= _messages_of(below)
    return left_out - {id(None)}


def _is_looked_at(node):
    """Return True where a decorator may look at the annotations of a class or function."""
    return any(_last_name(getattr(one, "func", one)) not in BLIND for one in node.decorator_list)


def _below(node):
    return (one for child in ast.iter_child_nodes(node) for one in ast.walk(child))


def _messages_of(nodes):
    """Return the identities of the messages of a function, and of the assignments that only serve them."""
    calls = [
        (call, isinstance(node, ast.Raise))
        for node in nodes
        if isinstance(node, ast.Raise | ast.Expr)
        and isinstance(call := node.exc if isinstance(node, ast.Raise) else node.value, ast.Call)
        and (isinstance(node, ast.Raise) or _last_name(call.func) == "warn")
    ]
    names = [node for node in nodes if isinstance(node, ast.Name)] if calls else []
    if not calls or any(node.id in ("locals", "vars", "eval", "exec") for node in names):
        return set()
    given = _assignments(nodes)
    texts = {name for name, all_of in given.items() if all(_is_text(one.value) for one in all_of)}
    messages = []
    for call, ends in calls:
        for one in [*call.args, *(word.value for word in call.keywords)]:
            is_message = _is_text(one) or (isinstance(one, ast.Name) and one.id in texts)
            if is_message and (_binds_nothing(one) if ends else _is_harmless(one)):
                messages.append(one)
    covered = {id(part) for one in messages for part in ast.walk(one)}
    left_out = {id(one) for one in messages}
    loads = {}
    for node in names:
        if isinstance(node.ctx, ast.Load):
            loads.setdefault(node.id, set()).add(id(node))
    waiting = {
        name
        for name, all_of in given.items()
        if name in loads
        and all(_is_harmless(one.value) and (name in texts or isinstance(one, ast.Assign)) for one in all_of)
    }  # `x += 1` may write into an array that has another name, too
    while ready := {name for name in waiting if loads[name] <= covered}:
        waiting -= ready
        for one in (one for name in ready for one in given[name]):
            left_out.add(id(one))
            covered |= {id(part) for part in ast.walk(one)}
    return left_out


def _assignments(nodes):
    """Return name -> its assignments, for local names that are bound by nothing else."""
    given, single = {}, set()
    for node in nodes:
        target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
        target = node.target if isinstance(node, ast.AugAssign) else target
        if isinstance(target, ast.Name):
            given.setdefault(target.id, []).append(node)
            single.add(id(target))
    others = {node.arg for node in nodes if isinstance(node, ast.arg)}
    single -= {id(one) for node in nodes if isinstance(node, ast.ClassDef) for one in _below(node)}
    for node in nodes:
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load) and id(node) not in single:
            others.add(node.id)
        elif isinstance(node, ast.Global | ast.Nonlocal):
            others.update(node.names)
    return {name: all_of for name, all_of in given.items() if name not in others}


def _is_text(node):
    """Return True where an expression is a text by its form."""
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.Add | ast.Mod) and (_is_text(node.left) or _is_text(node.right))
    if isinstance(node, ast.IfExp):
        return _is_text(node.body) and _is_text(node.orelse)
    if isinstance(node, ast.Call):
        method = isinstance(node.func, ast.Attribute) and node.func.attr in ("join", "format")
        return _is_text(node.func.value) if method else _last_name(node.func) in ("str", "repr")
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _binds_nothing(node):
    return not any(isinstance(part, BINDING) for part in ast.walk(node))


def _is_harmless(node):
    """Return True where an expression calls nothing that could have an effect."""
    calls = [part.func for part in ast.walk(node) if isinstance(part, ast.Call)]
    return _binds_nothing(node) and all(
        func.id in HARMLESS if isinstance(func, ast.Name) else isinstance(func, ast.Attribute) and _is_text(func.value)
        for func in calls
    )


def _digest(node, update, left_out):
    """Hash a syntax tree; empty fields are left out, so that every version of Python gives the same hash."""
    if isinstance(node, ast.AST):
        update(f"{type(node).__name__}(".encode())
        for name, value in ast.iter_fields(node):
            if id(value) not in left_out and (isinstance(node, ast.Constant) or value not in (None, [])):
                update(f"{name}=".encode())
                _digest(value, update, left_out)
        update(b")")
    elif isinstance(node, list):
        update(b"[")
        for item in node:
            if id(item) not in left_out:
                _digest(item, update, left_out)
                update(b",")
        update(b"]")
    else:
        update(f"{type(node).__name__} {node!r}".encode())
