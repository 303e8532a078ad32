"""What a ``.rknn`` file says about itself, read without a toolkit and without the NPU.

The format is not published. Three things stand in it as plain text: the string that sherpa-onnx reads its metadata from
(``key=value;key=value``), the versions of toolkit and compiler right behind it, and at the end, in JSON, the chip.
"""

from __future__ import annotations

import mmap
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from edge_asr.errors import ModelDamaged

MARK = b"RKNN"

_VERSIONS = re.compile(rb"(\d+\.\d+\.\d+)\(compiler version: (\d+\.\d+\.\d+)")
_CUSTOM = re.compile(rb"(?:[A-Za-z_]\w*=[\w.,-]+;)+[A-Za-z_]\w*=[\w.,-]+")
_CHIP = re.compile(rb'"target_platform":\s*\["([\w-]+)"')
_BEFORE_VERSIONS = 2048
"""Bytes in front of the versions in which the string is looked for; it has less than 1,024."""
_TAIL = 1 << 20
"""Bytes at the end that hold the JSON."""

_NOT_WHOLE = "is no whole .rknn file; convert the model again"


@dataclass(frozen=True, slots=True)
class RknnHeader:
    """Everything but the program itself."""

    metadata: Mapping[str, str]
    """Of an encoder; empty for other graphs, and for files that were not made for sherpa-onnx."""
    chip: str
    """``rk3588`` and the like."""
    toolkit: str
    """Version of rknn-toolkit2 that made it; its runtime must not be older."""
    compiler: str


def is_rknn(path: Path) -> bool:
    """Whether the file carries the mark of the format."""
    with path.open("rb") as file:
        return file.read(len(MARK)) == MARK


def read_rknn(path: Path) -> RknnHeader:
    """Read the header.

    Raises:
        ModelDamaged: It is something else, or cut off.
    """
    try:
        with path.open("rb") as file:
            if file.read(len(MARK)) != MARK:
                raise ModelDamaged(path.name, _NOT_WHOLE)
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
                return _parse(content, path.name)
    except OSError as error:
        raise ModelDamaged(path.name, f"cannot be read: {error.strerror or error}") from error


def _parse(content: mmap.mmap, name: str) -> RknnHeader:
    versions, chip = _VERSIONS.search(content), _CHIP.search(content[-_TAIL:])
    if versions is None or chip is None:
        raise ModelDamaged(name, _NOT_WHOLE)
    begin = max(0, versions.start() - _BEFORE_VERSIONS)
    custom = _CUSTOM.search(content[begin : versions.start()])
    pairs = custom[0].decode("ascii").split(";") if custom else []
    return RknnHeader(
        dict(pair.split("=", 1) for pair in pairs), chip[1].decode(), versions[1].decode(), versions[2].decode()
    )
