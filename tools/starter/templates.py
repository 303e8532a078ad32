"""Random sentences from hassil templates: ``(a|b)``, ``(any;order)``, ``[optional]``, ``{list}``, ``<rule>``.

Pure: templates and a random generator in, plain sentences out.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence

_PIECE = re.compile(r"[\[\]()|]|<[^>]+>|\{[^}]+\}|[^\[\]()|<{]+")


class Templates:
    """Expands templates, drawing every alternative at random.

    Args:
        rules: Rule name to template (``expansion_rules``).
        lists: List name to the phrases that may stand in its place.
    """

    def __init__(self, rules: Mapping[str, str], lists: Mapping[str, Sequence[str]]) -> None:
        self._rules = rules
        self._lists = lists

    def expand(self, template: str, draw: random.Random) -> str | None:
        """One sentence of ``template``, or None when it needs a list that nobody gave."""
        try:
            return " ".join(self._whole(template, draw).split())
        except KeyError:
            return None

    def _whole(self, template: str, draw: random.Random) -> str:
        pieces = _PIECE.findall(template)
        text, rest = self._alternatives(pieces, 0, draw)
        assert rest == len(pieces), f"unbalanced brackets in {template!r}"
        return text

    def _alternatives(self, pieces: list[str], at: int, draw: random.Random) -> tuple[str, int]:
        """Read ``a|b|c`` up to a closing bracket or the end; return one of them and where it ended."""
        options = [""]
        while at < len(pieces) and pieces[at] not in ")]":
            piece = pieces[at]
            if piece == "|":
                options.append("")
                at += 1
                continue
            text, at = self._piece(pieces, at, draw)
            options[-1] += text
        parts = draw.choice(options).split(";")
        draw.shuffle(parts)
        return " ".join(parts), at

    def _piece(self, pieces: list[str], at: int, draw: random.Random) -> tuple[str, int]:
        piece = pieces[at]
        if piece in "([":
            text, closing = self._alternatives(pieces, at + 1, draw)
            kept = piece == "(" or draw.random() < 0.5
            return (text if kept else ""), closing + 1
        if piece[0] == "<":
            return self._whole(self._rules[piece[1:-1]], draw), at + 1
        if piece[0] == "{":
            return draw.choice(self._lists[piece[1:-1].split(":")[0]]), at + 1
        return piece, at + 1
