"""How Sphinx makes the web site from these pages, the docstrings and the shipped results: `make site`."""

import sys
from pathlib import Path

from latex2mathml.converter import convert

sys.path.insert(0, str(Path(__file__).parents[1]))

from ufs_bench.scripts.docs.formula import to_rst
from ufs_bench.scripts.docs.stage import stage

project = "ufs-bench"
extensions = ["myst_nb", "sphinx.ext.autodoc", "numpydoc", "sphinx_copybutton"]
myst_heading_anchors = 4
nb_execution_mode = "off"  # the notebook has its outputs
numpydoc_show_class_members = False
autodoc_default_options = {"exclude-members": "set_fit_request"}
default_role = "code"
smartquotes = False
pygments_style = "tango"
html_theme = "pydata_sphinx_theme"
html_title = "ufs-bench"
html_static_path = ["site.css", "../scripts/docs/board.js"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_context = {"default_mode": "auto"}  # light or dark, as the reader has it
html_math_renderer = "mathml"
html_theme_options = {
    "header_links_before_dropdown": 6,
    "navbar_align": "left",
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "footer_start": [],
    "footer_end": [],
    "secondary_sidebar_items": {"**": ["page-toc"], "leaderboard": []},
}
html_sidebars = {"leaderboard": [], "index": []}


def on_docstring(app, what, name, obj, options, lines):
    """Set the formulas of a docstring."""
    lines[:] = to_rst("\n".join(lines)).split("\n")


def mathml(writer, node, display):
    """Write a formula as MathML, which browsers show without a script or a font of another host."""
    from docutils.nodes import SkipNode

    tag = "div" if display == "block" else "span"
    text = convert(node.astext()).replace("<mo>&#x02016;", '<mo stretchy="false">&#x02016;')
    text = text.replace("<math ", '<math displaystyle="true" ') if display == "block" else text
    writer.body.append(f'<{tag} class="formula">{text}</{tag}>')
    raise SkipNode


def setup(app):
    """Connect all this to Sphinx."""
    app.connect("builder-inited", lambda app: stage(Path(app.srcdir)))
    app.connect("autodoc-process-docstring", on_docstring, priority=100)  # before numpydoc
    app.add_html_math_renderer(
        "mathml",
        inline_renderers=(lambda writer, node: mathml(writer, node, "inline"), None),
        block_renderers=(lambda writer, node: mathml(writer, node, "block"), None),
    )
