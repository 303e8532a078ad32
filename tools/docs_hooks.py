"""What mkdocs does to our pages: links out of ``docs/`` become paths, and the command line is written down.

In the repository ``[the unit](../packaging/systemd/edge-asr.service)`` leads to the file; a site does not have it.
"""

from __future__ import annotations

import re
from pathlib import Path

from mkdocs.exceptions import PluginError
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
COMMANDS_HERE = "<!-- the commands -->"

_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((\.\.?/[^)#\s]+)(#[^)\s]*)?\)")


def on_page_markdown(markdown: str, page: Page, **_context: object) -> str:
    """One page, before it becomes HTML."""
    source = Path(page.file.src_uri)
    if COMMANDS_HERE in markdown:
        from tools.command_pages import command_reference

        markdown = markdown.replace(COMMANDS_HERE, command_reference())
    return _LINK.sub(lambda link: _without_leaving(link, source), markdown)


def _without_leaving(link: re.Match[str], source: Path) -> str:
    target = (DOCS / source).parent.joinpath(link[2]).resolve()
    if target.is_relative_to(DOCS):
        return link[0]
    if not target.exists():
        raise PluginError(f"docs/{source}: {link[2]} leads to nothing in the repository")
    path = str(target.relative_to(ROOT))
    return f"`{path}`" if link[1] in (path, target.name) else f"{link[1]} (`{path}`)"
