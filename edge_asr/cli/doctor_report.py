"""What ``edge-asr doctor`` prints: the board in a few lines, what is wrong first, then what is in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, get_args

import msgspec

from edge_asr import __version__
from edge_asr.diagnosis.finding import Finding, Level
from edge_asr.resources.board import BoardFingerprint, Cluster

_WORST_FIRST: tuple[Level, ...] = tuple(reversed(get_args(Level)))


def document(board: BoardFingerprint, findings: Sequence[Finding]) -> dict[str, Any]:
    """Everything, for programs; ``worst`` is the gravest level found."""
    levels = {finding.level for finding in findings}
    return {
        "version": __version__,
        "worst": next((level for level in _WORST_FIRST if level in levels), "ok"),
        "board": msgspec.to_builtins(board),
        "findings": [msgspec.to_builtins(finding) for finding in sorted_findings(findings)],
    }


def sorted_findings(findings: Sequence[Finding]) -> list[Finding]:
    """The gravest first, else as they were found."""
    return sorted(findings, key=lambda finding: _WORST_FIRST.index(finding.level))


def render(board: BoardFingerprint, findings: Sequence[Finding]) -> str:
    """The same for people."""
    lines = [*_board_lines(board), ""]
    for finding in sorted_findings(findings):
        lines += _finding_lines(finding)
    return "\n".join(lines) + "\n"


def _board_lines(board: BoardFingerprint) -> Iterator[str]:
    yield f"machine   {board.model or 'unnamed'}"
    for cluster in board.clusters:
        yield f"cores     {_cluster_text(cluster)}"
    memory = f"{board.memory_bytes >> 20} MiB" if board.memory_bytes else "unknown"
    pages = f", pages of {board.page_size_bytes >> 10} KiB" if board.page_size_bytes else ""
    yield f"memory    {memory}{pages}"
    kernel = " ".join(word for word in (board.kernel, board.architecture) if word)
    bits = f", {board.userland_bits}-bit programs" if board.userland_bits else ""
    yield f"system    Linux {kernel}{bits}"
    yield f"software  edge-asr {__version__}, Python {board.python}{', ' if board.libc else ''}{board.libc}"


def _cluster_text(cluster: Cluster) -> str:
    threads = f" with {len(cluster.cpus)} threads" if cluster.physical_cores != len(cluster.cpus) else ""
    clock = f", up to {cluster.max_frequency_khz / 1e6:.2f} GHz" if cluster.max_frequency_khz else ""
    return f"{cluster.physical_cores} × {cluster.name}{threads}{clock}"


def _finding_lines(finding: Finding) -> Iterator[str]:
    yield f"{finding.level:<8}  {finding.what}"
    if finding.why:
        yield f"          why: {finding.why}"
    if finding.advice:
        yield f"          do:  {finding.advice}"
