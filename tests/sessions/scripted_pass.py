"""A segment on its way through another model, which answers when the test lets it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from edge_asr.audio import Float32Array

Result = TypeVar("Result")


@dataclass
class ScriptedPass(Generic[Result]):
    samples: Float32Array
    is_done: bool = False
    result: Result | None = None
    is_given_up: bool = False

    def answer(self, result: Result | None) -> None:
        self.result, self.is_done = result, True

    def give_up(self) -> None:
        self.is_given_up = True
