"""The library that decoding graphs are made with, which is an extra."""

from __future__ import annotations

from importlib.util import find_spec

from edge_asr.errors import LibraryMissing


def require_graph_library() -> None:
    """See that it is installed, without loading it.

    Raises:
        LibraryMissing: ``kaldifst`` is not installed.
    """
    if find_spec("kaldifst") is None:
        raise graph_library_missing()


def graph_library_missing() -> LibraryMissing:
    """The error, with what to do."""
    return LibraryMissing("kaldifst", "install it with: pip install 'edge-asr[graph]'")
