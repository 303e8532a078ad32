"""Pages that had to come from a disk: swap-ins and major faults of the whole machine since boot."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from edge_asr.resources.procfs import read_text


@dataclass(frozen=True, slots=True)
class Paging:
    """Counters that only grow; what counts is the difference of two readings."""

    swapped_in_pages: int
    swapped_out_pages: int
    major_faults: int
    """Faults that waited for a disk; the first use of a mapped model file makes them too."""


def read_paging(root: Path = Path("/")) -> Paging | None:
    """The counters; ``None`` where the kernel does not give them."""
    text = read_text(root / "proc/vmstat")
    if text is None:
        return None
    counters = dict(line.split(maxsplit=1) for line in text.splitlines())
    try:
        # A kernel built without swap has no swap counters, and then nothing is ever swapped in.
        return Paging(
            swapped_in_pages=int(counters.get("pswpin", "0")),
            swapped_out_pages=int(counters.get("pswpout", "0")),
            major_faults=int(counters["pgmajfault"]),
        )
    except KeyError:
        return None
