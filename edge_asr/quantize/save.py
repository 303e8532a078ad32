"""Write a model file whole or not at all."""

from __future__ import annotations

from pathlib import Path

import onnx


def save_model(model: onnx.ModelProto, path: Path) -> list[Path]:
    """Write an ONNX file, and beside it, in ``NAME.data``, the weights of a model of 2 GB and more.

    Returns:
        The files written, the graph first.

    Raises:
        DiskFull: It does not fit; what was there before is still there.
    """
    raise NotImplementedError
