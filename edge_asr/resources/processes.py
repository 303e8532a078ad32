"""Running programs by their process number: what they are called, how they were started, and whether they run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePath

from edge_asr.resources.cpu_time import read_cpu_s
from edge_asr.resources.procfs import read_fields, read_text


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


@dataclass(frozen=True, slots=True)
class ProcessActivity:
    """What the threads of a process are doing, and whether any of them ran since another look."""

    states: frozenset[str]
    """Letters of ``proc(5)``: R runs or waits for a core, S sleeps, D waits for a disk, T is stopped."""
    switches: int
    """Times that its threads gave up a core, or lost it; the same number again means that none has run."""
    cpu_s: float = 0.0
    """User and system time of all of them, to a hundredth of a second."""


def read_activity(pid: int, root: Path = Path("/")) -> ProcessActivity | None:
    """Activity of a running process: one small file per thread; ``None`` when it has ended."""
    states, switches = set(), 0
    for thread in (root / f"proc/{pid}/task").glob("[0-9]*"):
        try:
            fields = read_fields(thread / "status")
        except OSError:  # the thread has ended meanwhile
            continue
        states.add(fields["State"][0])
        switches += int(fields["voluntary_ctxt_switches"]) + int(fields["nonvoluntary_ctxt_switches"])
    return ProcessActivity(frozenset(states), switches, read_cpu_s(pid, root)) if states else None
