"""A note in small graphs that one thread is enough for them.

The decoder and the joiner of a transducer run once for every token, on a vector or two: more threads only wait for
each other. ONNX Runtime reads the note in processes that were started with ``ORT_LOAD_CONFIG_FROM_MODEL=1``, and takes
it for all of the session's options then, so nothing else may depend on it.
"""

from __future__ import annotations

import json

import onnx

KEY = "ort_config"
"""Metadata that ONNX Runtime looks for."""
HINTED = ("decoder", "joiner")
"""Roles of a transducer's small graphs."""
_CONFIG = json.dumps({"session_options": {"intra_op_num_threads": 1, "inter_op_num_threads": 1}})


def add_thread_hint(model: onnx.ModelProto) -> None:
    """Write the note, unless the graph has one already."""
    if all(entry.key != KEY for entry in model.metadata_props):
        model.metadata_props.add(key=KEY, value=_CONFIG)
