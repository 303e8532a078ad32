"""Which models a bench sets beside each other: those that were named, and with a second pass what that is judged by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from edge_asr.cli.messages import remark
from edge_asr.settings import SecondPassSettings
from edge_asr.store.store import InstalledModel, ModelStore
from edge_asr.workers.models import second_model, why_no_second_model


@dataclass(frozen=True, slots=True)
class Tiers:
    """Models, and the one that hears segments again behind those that stream."""

    models: tuple[InstalledModel, ...]
    """The second one too, to be measured alone."""
    second: InstalledModel | None
    """``None`` where none is configured, or no model takes one."""

    @classmethod
    def of(
        cls, store: ModelStore, named: Sequence[InstalledModel], settings: SecondPassSettings, *, is_asked_for: bool
    ) -> Tiers:
        """The models that were named, with the second pass of the settings where it was asked for.

        Raises:
            ModelError: The second model is not installed.
            ConfigurationError: It does not hear whole segments.
        """
        if not is_asked_for:
            if any(_would_have(model, settings) for model in named):
                remark(_not_measured(settings.model))
            return cls(tuple(named), None)
        behind = [second_model(store, model.manifest, settings) for model in named]
        second = next((model for model in behind if model), None)
        others = [model for model in named if second is None or not model.directory.samefile(second.directory)]
        for model in others:
            if why := why_no_second_model(model.manifest, settings):
                remark(why)
        return cls((*others, second) if second else tuple(others), second)

    def behind(self, model: InstalledModel) -> tuple[str, ...]:
        """Second passes that a model is measured with: none, and where it streams also the one."""
        if self.second is None:
            return ("",)
        name = self.second.manifest.name
        return ("", name) if _would_have(model, SecondPassSettings(name)) else ("",)


def _would_have(model: InstalledModel, settings: SecondPassSettings) -> bool:
    return bool(settings.model) and not why_no_second_model(model.manifest, settings)


def _not_measured(second: str) -> str:
    return (
        f"the configured second pass, {second}, is left out; `--second-pass {second}` measures each model without it, "
        f"with it behind, and {second} alone"
    )
