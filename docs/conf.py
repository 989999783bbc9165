"""Sphinx configuration. The pages under `generated/` are written anew by every build."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from agentrl import __version__  # noqa: E402
from docs.generate import write_all  # noqa: E402

project = "agentrl"
author = "The agentrl developers"
copyright = author
version = release = __version__

extensions = ["myst_parser"]
myst_enable_extensions = ["attrs_inline", "colon_fence"]
myst_heading_anchors = 3
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]

html_theme = "furo"
html_title = "agentrl"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
pygments_style = "friendly"
pygments_dark_style = "monokai"

write_all()
