"""What a file of a model often is instead: a page, a pointer, an archive."""

from __future__ import annotations

_LOOKS_LIKE = (
    (b"version https://git-lfs", "is a git-LFS pointer, not the file itself; run `git lfs pull` where it came from"),
    (b"<!doctype", "is a web page, not part of a model; the download went wrong"),
    (b"<html", "is a web page, not part of a model; the download went wrong"),
    (b"<?xml", "is a web page, not part of a model; the download went wrong"),
    (b"pk\x03\x04", "is a zip archive, not part of a model; unpack it first"),
    (b"bzh", "is a bzip2 archive, not part of a model; unpack it first"),
    (b"\x1f\x8b", "is a gzip archive, not part of a model; unpack it first"),
)


def what_it_is_instead(start: bytes) -> str:
    """A clause about a file that begins with these bytes; empty when it is none of the usual impostors."""
    lowered = start.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    return next((meaning for mark, meaning in _LOOKS_LIKE if lowered.startswith(mark)), "")
