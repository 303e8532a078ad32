"""Running programs by their process number: what they are called and how they were started."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePath

from edge_asr.resources.procfs import read_text


@dataclass(frozen=True, slots=True)
class RunningProgram:
    """One process."""

    pid: int
    name: str
    """The kernel's short name, at most 15 characters."""
    words: tuple[str, ...]
    """The command line it was started with; empty for kernel threads."""

    @property
    def is_ours(self) -> bool:
        """Whether it is edge-asr, as a command (``bin/edge-asr serve``) or a module (``python -m edge_asr serve``)."""
        program = self.words[: self.words.index("-m") + 2] if "-m" in self.words else self.words[:2]
        return any(PurePath(word).name == "edge-asr" or word.split(".")[0] == "edge_asr" for word in program)


def read_running_program(pid: int, root: Path = Path("/")) -> RunningProgram | None:
    """The program of a process or thread; ``None`` when it has ended."""
    name = read_text(root / f"proc/{pid}/comm")
    if name is None:
        return None
    command = (read_text(root / f"proc/{pid}/cmdline") or "").strip("\0")
    return RunningProgram(pid, name, tuple(command.split("\0")) if command else ())
