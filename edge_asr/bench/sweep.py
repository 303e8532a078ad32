"""Which configurations a bench measures: every combination of what was asked for. Pure."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from edge_asr.bench.document import Configuration, Mode
from edge_asr.errors import ConfigurationError
from edge_asr.resources.procfs import parse_cpu_list
from edge_asr.resources.topology import Topology, worker_cores


@dataclass(frozen=True, slots=True)
class Sweep:
    """What to vary; each list holds at least one value."""

    modes: Sequence[Mode]
    providers: Sequence[str] = ("cpu",)
    threads: Sequence[int] = (1,)
    cpus: Sequence[tuple[int, ...]] = ()
    """Core sets; empty for the default of each number of threads."""
    streams: Sequence[int] = (1,)
    pieces_ms: Sequence[int] = (100,)
    batches: Sequence[int] = (16,)
    windows_ms: Sequence[int] = (0,)
    spinning: Sequence[bool] = (False,)

    def configurations(
        self, model: str, topology: Topology, second_passes: Sequence[str] = ("",)
    ) -> Iterator[Configuration]:
        """Every combination for one model; the modes lie next to each other.

        Args:
            model: Its name.
            topology: Of the machine.
            second_passes: Names of the models behind it, one after the other; empty for none.

        Raises:
            ConfigurationError: A core is not one that this process may use.
        """
        for cpus in self.cpus:
            _require_allowed(cpus, topology)
        ways = itertools.product(self.pieces_ms, self.batches, self.windows_ms)
        behind = itertools.product(second_passes, self.modes)
        varied = itertools.product(self.providers, self.threads, self.spinning, self.streams, ways, behind)
        for provider, threads, spinning, streams, (piece_ms, batch, window_ms), (second_pass, mode) in varied:
            for cpus in self.cpus or (worker_cores(topology, threads),):
                yield Configuration(
                    model=model,
                    mode=mode,
                    provider=provider,
                    threads=threads,
                    cpus=cpus,
                    streams=streams,
                    piece_ms=piece_ms,
                    max_batch=batch,
                    window_ms=window_ms,
                    allow_spinning=spinning,
                    second_pass=second_pass,
                )


def parse_numbers(text: str, what: str, low: int, high: int) -> tuple[int, ...]:
    """``1,2,4`` as numbers, in order, each once.

    Raises:
        ConfigurationError: Something is no number, or out of range.
    """
    numbers = []
    for part in text.split(","):
        if not part.strip().isdecimal() or not low <= int(part) <= high:
            raise ConfigurationError(f"{what} {part.strip()!r} is not a number from {low} to {high}; write e.g. 1,2,4")
        numbers.append(int(part))
    return tuple(dict.fromkeys(numbers))


def parse_cores(text: str) -> tuple[int, ...]:
    """``0-3`` or ``4,5`` as core numbers.

    Raises:
        ConfigurationError: It is no list of cores.
    """
    try:
        cpus = tuple(sorted(parse_cpu_list(text)))
    except ValueError as error:
        raise ConfigurationError(f"--cpus {text!r} is no list of cores; write e.g. 0-3 or 4,5") from error
    if not cpus:
        raise ConfigurationError(f"--cpus {text!r} names no core; write e.g. 0-3 or 4,5")
    return cpus


def _require_allowed(cpus: Sequence[int], topology: Topology) -> None:
    foreign = sorted(set(cpus) - set(topology.cpus))
    if foreign:
        allowed = ", ".join(str(cpu) for cpu in topology.cpus)
        raise ConfigurationError(f"core {foreign[0]} is not one this process may use; those are: {allowed}")
