"""Reading the kernel's small text files: lists of cores, integers, and the ``Key: value`` lines of ``/proc``."""

from __future__ import annotations

from pathlib import Path


def parse_cpu_list(text: str) -> frozenset[int]:
    """Cores of a kernel list such as ``0-3,6``; the empty list is empty.

    Raises:
        ValueError: The text is not such a list.
    """
    cpus: set[int] = set()
    for part in text.strip().split(","):
        if not part:
            continue
        first, dash, last = part.partition("-")
        cpus.update(range(int(first), int(last if dash else first) + 1))
    return frozenset(cpus)


def read_text(path: Path) -> str | None:
    """Content of a file, stripped; ``None`` where this kernel or board does not have it."""
    try:
        return path.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return None


def read_int(path: Path) -> int | None:
    """Integer in a file; ``None`` where there is no such file or it holds something else (``max``, nothing)."""
    text = read_text(path)
    try:
        return int(text) if text else None
    except ValueError:
        return None


def read_fields(path: Path) -> dict[str, str]:
    """The ``Key: value`` lines of a file, values stripped.

    Raises:
        FileNotFoundError: There is no such file: the process it describes has ended.
    """
    text = path.read_text(encoding="ascii", errors="replace")
    pairs = (line.partition(":") for line in text.splitlines())
    return {key: value.strip() for key, colon, value in pairs if colon}


def kib_to_bytes(value: str) -> int:
    """Bytes of a ``/proc`` figure such as ``1740 kB``."""
    return int(value.split(maxsplit=1)[0]) << 10
