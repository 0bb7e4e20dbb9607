"""The documentation site, built by ``make docs``.

The pages are the Markdown files beside this one. What is made from the program (API, command line, gallery,
a report) goes into ``docs/generated``.
"""

from __future__ import annotations

import sys
import warnings
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS))

import matplotlib
from command_pages import write_command_pages
from live_report import write_live_report
from preset_table import write_preset_table
from sphinx.application import Sphinx
from sphinx.config import Config

import sedscope

matplotlib.use("agg")

GENERATED = DOCS / "generated"

project = "sedscope"
author = "The sedscope developers"
copyright = author
release = version = sedscope.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["generated/included"]
templates_path = ["templates"]
nitpicky = True
smartquotes = False  # options and definitions are typed as they stand

myst_enable_extensions = ["attrs_block", "colon_fence"]
myst_heading_anchors = 4

# Modules that are public under a shorter name than their own.
for _name in ("curves", "presets", "simulate"):
    sys.modules[f"sedscope.{_name}"] = getattr(sedscope, _name)

# Classes with a mocked base would show the signature of the mock, (*args, **kwargs).
autodoc_mock_imports = [] if find_spec("torchmetrics") else ["torch"]
if autodoc_mock_imports:
    sys.modules["torchmetrics"] = ModuleType("torchmetrics")
    _base = type("Metric", (), {"__module__": "torchmetrics"})
    vars(sys.modules["torchmetrics"])["Metric"] = _base
autodoc_typehints = "none"  # types stand in the docstrings
autosummary_generate = True
# Pages whose names differ only in case would overwrite each other on some systems.
autosummary_filename_map = {
    f"sedscope.{name}": f"sedscope.{name}_class"
    for name in sedscope.__all__
    if name[0].isupper() and name.lower() in sedscope.__all__
}
numpydoc_show_class_members = False
toc_object_entries_show_parents = "hide"

sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "generated/gallery",
    "filename_pattern": r"\.py$",
    "reset_modules": ("gallery.use_colours",),
    "within_subsection_order": "gallery.LearningOrder",
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "write_computation_times": False,
    "show_signature": False,
    "min_reported_time": 60,  # seconds: shorter times are not worth a line
}

html_theme = "pydata_sphinx_theme"
html_title = "sedscope"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = [("tables.js", {"defer": "defer"})]
html_extra_path = ["generated/extra"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "github_url": "https://github.com/sedscope/sedscope",
    "navigation_with_keys": False,
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": False,
}
html_sidebars = {"index": [], "live_report": []}


def generate_pages(app: Sphinx, config: Config) -> None:
    """Make what is not written by hand, before Sphinx looks for pages."""
    write_command_pages(GENERATED / "commands")
    write_preset_table(GENERATED / "included" / "presets.md")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sedscope.SedscopeWarning)
        write_live_report(GENERATED / "extra" / "report_of_two_systems.html")


def link_from_docs(app: Sphinx, included: Path, page: str, content: list[str]) -> None:
    """Make the links of a file beside ``docs`` right for the page that includes it."""
    content[0] = content[0].replace("](docs/", "](").replace("](CONTRIBUTING.md)", "](contributing.md)")


def signature_of(
    app: Sphinx, what: str, name: str, documented: object, *_: object
) -> tuple[str, None] | None:
    """Leave out the signature of protocols, ``(*args, **kwargs)``: nobody makes their instances."""
    return ("", None) if getattr(documented, "_is_protocol", False) else None


def setup(app: Sphinx) -> None:
    app.connect("include-read", link_from_docs)
    app.connect("autodoc-process-signature", signature_of)
    app.connect("config-inited", generate_pages)
