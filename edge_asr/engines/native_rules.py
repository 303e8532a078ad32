"""Rules by which sherpa-onnx rewrites its own text: numbers (``rule_fsts``), homophones in Chinese (``hr_…``).

A missing file is an error that can be caught, a damaged one ends the process, and one half of the homophones' two files
is ignored without a word; so all of it is looked at here.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from edge_asr.errors import ConfigurationError
from edge_asr.settings import EngineSettings

_FST_MARK = b"\xd6\xfd\xb2\x7e"
"""First bytes of an OpenFst file."""


def rule_arguments(settings: EngineSettings) -> dict[str, object]:
    """Arguments for any factory of a recogniser; empty where no rules are configured.

    Raises:
        ConfigurationError: A file is missing or no file of rules, or one of two that belong together is not named.
    """
    if bool(settings.hr_lexicon) != bool(settings.hr_rule_fsts):
        raise ConfigurationError("engine.hr_lexicon and engine.hr_rule_fsts are only useful together; set both or none")
    arguments: dict[str, object] = {}
    if settings.rule_fsts:
        arguments["rule_fsts"] = _listed("rule_fsts", settings.rule_fsts, _FST_MARK)
    if settings.rule_fars:
        arguments["rule_fars"] = _listed("rule_fars", settings.rule_fars)
    if settings.hr_lexicon:
        arguments["hr_lexicon"] = _listed("hr_lexicon", (settings.hr_lexicon,))
        arguments["hr_rule_fsts"] = _listed("hr_rule_fsts", (settings.hr_rule_fsts,), _FST_MARK)
    return arguments


def has_rules(settings: EngineSettings) -> bool:
    """Whether the engine rewrites its text."""
    return bool(settings.rule_fsts or settings.rule_fars or settings.hr_lexicon)


def spelled(texts: Sequence[str]) -> str:
    """What tokens say without any rules."""
    return "".join(texts).replace("\u2581", " ").strip()


def _listed(name: str, files: Sequence[str], mark: bytes = b"") -> str:
    for file in files:
        if "," in file:
            raise ConfigurationError(f"engine.{name}: {file!r} has a comma, which the engine takes for two files")
        try:
            with Path(file).open("rb") as opened:
                start = opened.read(max(1, len(mark)))
        except OSError as error:
            raise ConfigurationError(f"engine.{name}: {file} cannot be read: {error.strerror}") from error
        if not start or not start.startswith(mark):
            raise ConfigurationError(f"engine.{name}: {file} is no file of rules (OpenFst)")
    return ",".join(files)
