"""The formulas of docstrings, which are written to be read in a terminal, as LaTeX and as reStructuredText."""

import re
import textwrap

GREEK = "alpha beta gamma delta eta lambda mu nu rho sigma zeta omega Delta Lambda Sigma Omega Phi"
COMMANDS = {name: name for name in f"{GREEK} min max sum log exp".split()} | {"lam": "lambda"}
OPERATORS = ("tr", "rank", "diag", "mean")
KNOWN = rf"(?:{'|'.join([*COMMANDS, *OPERATORS])})"
WORD = rf"(?!{KNOWN}(?![a-z]))[a-z]"
TOKEN = re.compile(
    rf"""
    (?P<label>"\w+")
    | (?P<identifier>[a-z]+_[a-z]{{4,}})
    | (?P<known>{KNOWN}(?![a-z])_?(?P<number>\d?)(?![\w{{]))(?!_)
    | (?P<command>{KNOWN}(?=_)|{KNOWN}(?![a-z]))
    | (?P<text>{WORD}{{2,}}(?:[ -]{WORD}+\b(?![_^'(]))*)
    | (?P<hat>[a-zA-Z])(?P<over>~|\^(?=['\s]|$))
    | (?P<index>[A-Z])(?P<of>[a-z])(?![a-z])
    | _(?P<sub>{KNOWN}\b|[a-z]+|\d+|[A-Z])
    | \^(?P<sup>-?\d+/\d+|-?\d+|\w)
    | (?P<open>(?<![^\s(\[/{{=-])\|\|?(?=\S))
    | (?P<close>\|\|?)
    | (?P<one>\b1(?='|[a-z]')|(?<=')1\b)
    | (?P<sign>'|<=|>=|\s\*\s|\s{{3,}}|<(?=[^<>=]+,\s)|(?<=\w)>)
""",
    re.VERBOSE,
)
SIGNS = {"'": r"^{T}", "<=": r"\le ", ">=": r"\ge ", " * ": r"\odot ", "<": r"\langle ", ">": r"\rangle "}
# A block that is indented by four; a norm in a sentence; what stays as it is: code and references.
DISPLAY = re.compile(r"(?<=\n\n) {4}\S.*(?:\n {4}.*)*(?=\n\n|\n?$)")
NORM = r"\|\|(?:[^|\n]+ \|\|[^|\n]+\|\| |[^|\n]+)\|\|(?:_\w+)?(?:\^\w+)?"
KEPT = re.compile(rf"(?P<kept>``[^`]*``|`[^`]*`)|(?P<norm>{NORM})|(?P<bar>\||(?<=\w)_(?!\w))")

LIST = re.compile(r"^( *)([-+] |\w[.)]\s)", re.MULTILINE)  # "m.  It is part of the model" begins no list


def to_latex(line):
    """Return a line of a formula as LaTeX: ``||XW - Y||_F^2`` is a squared norm, ``W'`` the transpose of W."""
    return TOKEN.sub(_latex, line.strip().rstrip(",")).strip()


def _latex(found):
    """Return one token as LaTeX: words stay words, capital letters side by side are a product."""
    kind, text = found.lastgroup, found[0]
    if found["label"]:
        return rf"\text{{{text}}}\quad "
    if found["identifier"]:
        return rf"\mathrm{{{text.replace('_', chr(92) + '_')}}}"
    if found["known"] or found["command"]:
        name = re.match("[A-Za-z]+", text)[0]
        number = f"_{{{found['number']}}}" if found["number"] else ""
        return (rf"\operatorname{{{name}}}" if name in OPERATORS else rf"\{COMMANDS[name]}") + f"{number} "
    if found["text"]:
        return rf"\text{{ {text} }}"
    if found["hat"]:
        return rf"\{'tilde' if found['over'] == '~' else 'hat'}{{{found['hat']}}}"
    if found["index"]:
        return f"{found['index']}_{{{found['of']}}}"
    if found["sub"] in COMMANDS:
        return rf"_{{\{COMMANDS[found['sub']]} }}"
    if found["sub"]:
        return f"_{{{'2,1' if found['sub'] == '21' else found['sub']}}}"
    if found["sup"]:
        return f"^{{{found['sup']}}}"
    if kind in ("open", "close"):
        return rf"\{'l' if kind == 'open' else 'r'}{'Vert' if text == '||' else 'vert'} "
    if found["one"]:
        return r"\mathbf{1}"
    return SIGNS.get(text, r"\qquad ")


def to_rst(docstring):
    """Return a docstring with its formulas as mathematics, and with no sign that reStructuredText would take away."""
    parts, end = [], 0
    docstring = docstring.replace("::\n", ":\n").replace("]_", "]").replace(".. [", "*  \\[")
    for block in DISPLAY.finditer(docstring):
        parts += [_prose(docstring[end : block.start()]), _display(block[0])]
        end = block.end()
    return "".join([*parts, _prose(docstring[end:])])


def _display(block):
    """Return a block as a displayed formula, a row a line."""
    rows = " \\\\\n".join(to_latex(line) for line in block.splitlines())
    body = rf"\begin{{array}}{{l}}{rows}\end{{array}}" if "\n" in rows else rows
    return ".. math::\n\n" + textwrap.indent(body, "   ")


def _prose(text):
    """Return a text between formulas, with its norms set and bars and final underscores as they are written."""

    def one(found):
        if found["norm"]:
            return rf"\ :math:`{to_latex(found[0])}`\ "
        return found["kept"] or f"\\{found[0]}"

    return LIST.sub(r"\1\\\2", KEPT.sub(one, text))
