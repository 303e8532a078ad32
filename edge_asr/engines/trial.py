"""Load a model in a child process first, since a damaged one can end the process that loads it.

``python -m edge_asr.engines.trial`` reads what to load as JSON from standard input and writes one JSON document to
standard output: the engine's description, or the error. A child that dies says nothing; then its exit status and its
last words on standard error become one sentence.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import msgspec

from edge_asr.engines.base import EngineDescription
from edge_asr.engines.native_load import relevant_line
from edge_asr.engines.provider_table import CPU
from edge_asr.engines.providers import known_provider
from edge_asr.errors import EdgeAsrError, MachineError, ModelDamaged, ProviderUnavailable, error_of
from edge_asr.families import FAMILIES, FamilyKind
from edge_asr.manifest import ModelManifest
from edge_asr.settings import EngineSettings

_ENDED_BY_ENGINE = 255
"""How the engine ends a process: ``_Exit(-1)``."""

_STDOUT, _STDERR = 1, 2

_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


class Trial(msgspec.Struct, frozen=True):
    """What the child is to load."""

    directory: str
    manifest: ModelManifest
    settings: EngineSettings
    vad_model: str = ""


class Outcome(msgspec.Struct, frozen=True):
    """What became of it: a description, or the code and sentence of an error."""

    description: EngineDescription | None = None
    code: str = ""
    message: str = ""


def trial_load(
    directory: Path,
    manifest: ModelManifest,
    settings: EngineSettings,
    timeout_s: float = 120.0,
    vad_model: Path | None = None,
) -> EngineDescription:
    """Load the model in a child process and let it decode once.

    Args:
        directory: Where the files are.
        manifest: What they are.
        settings: How they are loaded.
        timeout_s: How long the child may take.
        vad_model: As in :func:`edge_asr.engines.registry.load_engine`.

    Raises:
        EdgeAsrError: What ``load_engine`` raised in the child.
        ModelDamaged: The child was ended by the engine, crashed, or took too long.
        ProviderUnavailable: The same, with another provider than the CPU.
        MachineError: The child was killed, or this processor lacks instructions the engine uses.
    """
    provider = known_provider(settings.provider)
    trial = Trial(str(directory), manifest, settings, str(vad_model or ""))
    try:
        child = subprocess.run(
            [sys.executable, "-m", "edge_asr.engines.trial"],
            input=msgspec.json.encode(trial),
            capture_output=True,
            timeout=timeout_s,
            env=_environment(),
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise _blame(manifest.name, provider, f"loading it took longer than {timeout_s:g} s") from error
    if child.returncode != 0:
        raise death_of(manifest.name, provider, child.returncode, child.stderr.decode(errors="replace"))
    outcome = msgspec.json.decode(child.stdout, type=Outcome)
    if outcome.description is None:
        raise error_of(outcome.code, outcome.message)
    return outcome.description


def death_of(model: str, provider: str, returncode: int, said: str, doing: str = "loading") -> EdgeAsrError:
    """What the end of a child that loaded a model means.

    Args:
        model: Name for the sentence.
        provider: The provider it was to run on.
        returncode: As ``subprocess`` gives it: negative for a signal.
        said: What it wrote to standard error.
        doing: What it was about to do with the model.
    """
    words = relevant_line(said)
    if returncode == -signal.SIGILL:
        return MachineError("this processor lacks instructions that the engine uses; install a build made for it")
    if returncode == -signal.SIGKILL:
        return MachineError(f"{doing} model {model!r} was killed by the system, most likely for lack of memory")
    if returncode == _ENDED_BY_ENGINE:
        return _blame(model, provider, f"the engine refuses it: {words or 'it does not say why'}")
    how = f"signal {-returncode} ({_signal_name(-returncode)})" if returncode < 0 else f"exit status {returncode}"
    return _blame(model, provider, f"the engine crashed on it with {how}{': ' if words else ''}{words}")


def _blame(model: str, provider: str, reason: str) -> EdgeAsrError:
    return ModelDamaged(model, reason) if provider == CPU else ProviderUnavailable(provider, reason)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "unknown"


def _environment() -> dict[str, str]:
    """The child finds this very package, wherever it was imported from, and starts no thread pools."""
    package_root = str(Path(__file__).resolve().parents[2])
    search = os.pathsep.join(part for part in (package_root, os.environ.get("PYTHONPATH", "")) if part)
    return {**os.environ, **_ONE_THREAD, "PYTHONPATH": search}


def main() -> None:
    """The child's side."""
    trial = msgspec.json.decode(sys.stdin.buffer.read(), type=Trial)
    answers = os.dup(_STDOUT)
    os.dup2(_STDERR, _STDOUT)  # whatever native code prints must not mix with the answer
    vad_model = Path(trial.vad_model) if trial.vad_model else None
    try:
        outcome = Outcome(description=_loaded(trial, vad_model))
    except EdgeAsrError as error:
        outcome = Outcome(code=error.code, message=str(error))
    with os.fdopen(answers, "wb") as answer:
        answer.write(msgspec.json.encode(outcome))


def _loaded(trial: Trial, vad_model: Path | None) -> EngineDescription:
    kind = FAMILIES[trial.manifest.family].kind
    if kind in ("punctuation", "speaker"):
        _load_beside_recognition(kind, Path(trial.directory), trial.manifest)
        return EngineDescription(trial.manifest.name, trial.manifest.family, CPU, 1, 0, 0.0, 0.0, is_streaming=False)
    from edge_asr.engines.registry import load_engine

    return load_engine(Path(trial.directory), trial.manifest, trial.settings, vad_model).describe()


def _load_beside_recognition(kind: FamilyKind, directory: Path, manifest: ModelManifest) -> None:
    if kind == "speaker":
        from edge_asr.engines.speaker import load_speaker_model

        load_speaker_model(directory, manifest)
    else:
        from edge_asr.engines.punctuation import load_punctuation

        load_punctuation(directory, manifest)


if __name__ == "__main__":
    main()
