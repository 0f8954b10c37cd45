"""The configuration of Sphinx. build.py runs Sphinx after it has generated all files that the pages include."""

import re
import sys
from pathlib import Path
from unittest.mock import MagicMock

from sphinx.ext.autodoc.mock import _MockModule

import libgather

sys.path.insert(0, str(Path(__file__).parent))

project = "libgather"
author = "the authors of libgather"
copyright = "Apache-2.0"
release = version = libgather.__version__

extensions = [
    "breathe",
    "example",
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_design",
]
exclude_patterns = ["tree", "generated"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3

html_theme = "furo"
html_title = f"libgather {release}"
html_static_path = ["static"]
html_css_files = ["style.css"]
html_extra_path = ["generated/extra"]
html_copy_source = html_show_copyright = False
html_theme_options = {"navigation_with_keys": True}
pygments_style, pygments_dark_style = "friendly", "github-dark"

breathe_projects = {"c": str(Path("generated/c/xml").resolve()), "cpp": str(Path("generated/cpp/xml").resolve())}
breathe_default_project = "c"
breathe_domain_by_extension = {"h": "c", "hpp": "cpp"}
breathe_show_define_initializer = True
breathe_show_include = False
c_id_attributes = cpp_id_attributes = ["GTH_API", "GTH_EXPORT"]

autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_preserve_defaults = True
# Modules of the package import these large libraries. Sphinx reads the docstrings without them.
autodoc_mock_imports = ["dask", "ray", "torch"]
_MockModule.__version__ = "0.0"  # libgather.torch has no shared object for this version, and so it loads none
# libgather.jax registers its primitives in tables of JAX at import. A mock accepts the registration.
JAX = ("", ".extend", ".extend.core", ".interpreters", ".numpy", ".sharding")
sys.modules |= {f"jax{name}": MagicMock() for name in JAX}


class _Primitive:  # a base class cannot be a mock
    def __init__(self, name): ...

    def __getattr__(self, name):
        return MagicMock()


sys.modules["jax.extend.core"].Primitive = _Primitive
napoleon_use_ivar = True  # the attributes of a docstring are already listed as members
toc_object_entries = False


def without_names_of_modules(app, what, name, obj, options, signature, returned):
    """Removes module names from the types of a signature."""
    short = [re.sub(r"\b(?:\w+\.)+(\w+)", r"\1", each) if each else each for each in (signature, returned)]
    return tuple(short)


def setup(app):
    app.connect("autodoc-process-signature", without_names_of_modules)
