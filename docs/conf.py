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

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_copybutton", "docs.markdown_docstrings"]
myst_enable_extensions = ["attrs_inline", "colon_fence"]
myst_heading_anchors = 3
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]

# The reference is read from the code. Whether or not these are installed, the pages are the same, and quickly made.
autodoc_mock_imports = ["torch", "transformers", "stable_baselines3", "trl", "openai", "aiolimiter", "pyarrow"]
autodoc_mock_imports += [
    "verl",
    "omegaconf",
    "verifiers",
    "openenv",
    "inspect_ai",
    "skyrl_gym",
]  # they live in virtual environments of their own
autodoc_member_order = "bysource"
python_maximum_signature_line_length = 88

# Code and commands are copied without prompts; what commands print has no button.
copybutton_selector = "div.highlight-python pre, div.highlight-bash pre, div.highlight-toml pre, div.highlight-json pre"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "furo"
html_title = "agentrl"
html_theme_options = {
    "announcement": "Embedded worlds are not the official benchmarks: scores compare with each other only."
}
html_static_path = ["_static"]
html_favicon = "_static/favicon.svg"
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
pygments_style = "friendly"
pygments_dark_style = "monokai"

write_all()
