"""Copies of ``/proc`` and ``/sys`` as real boards show them, for everything that takes a ``root``.

One file per family of boards; each function writes a whole board below a root and returns the root. A test that needs
the board in another state writes single files over it with :func:`write_tree`. Where each part comes from stands in the
docstring of its file. Serial numbers are left out.
"""

from tests.boards.raspberry_pi import raspberry_pi_3, raspberry_pi_4, raspberry_pi_5
from tests.boards.rk3588 import rk3588
from tests.boards.tree import write_tree
from tests.boards.x86 import virtual_machine, x86_laptop, x86_server

__all__ = [
    "raspberry_pi_3",
    "raspberry_pi_4",
    "raspberry_pi_5",
    "rk3588",
    "virtual_machine",
    "write_tree",
    "x86_laptop",
    "x86_server",
]
