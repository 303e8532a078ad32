"""The processor and the programs built for it."""

from __future__ import annotations

from collections.abc import Iterator

from edge_asr.diagnosis.finding import Finding
from edge_asr.resources.board import BoardFingerprint


def system_findings(board: BoardFingerprint) -> Iterator[Finding]:
    """Whether this is a 64-bit system."""
    if board.userland_bits == 32:
        yield Finding(
            "warning",
            "system_32_bit",
            f"this Python is a 32-bit program (kernel: {board.architecture or 'does not say'})",
            "nobody has tried edge-asr on 32-bit systems, and many packages have no build for them",
            "install the 64-bit system: Raspberry Pi OS (64-bit) runs on a Pi 3 and everything after it",
        )
    elif board.userland_bits == 64:
        yield Finding("ok", "system", "this is a 64-bit system")


def feature_findings(board: BoardFingerprint) -> Iterator[Finding]:
    """Whether 8-bit models have their fast instructions."""
    if board.features is None:
        return
    names = ", ".join(dict.fromkeys(cluster.name for cluster in board.clusters)) or "the processor"
    if board.features.dot_product:
        what = "dot products and matrix products" if board.features.matrix_multiply else "dot products"
        yield Finding("ok", "cpu_features", f"8-bit {what} run on instructions of their own ({names})")
    else:
        yield Finding(
            "info",
            "no_dot_product",
            f"no instruction for 8-bit dot products ({names})",
            "8-bit models run on slower instructions than on newer cores; they save memory all the same",
            "take a small model, and see with a measurement on this very board that it keeps up",
        )
