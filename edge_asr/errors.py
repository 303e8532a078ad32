"""Every error edge-asr raises on purpose, as one tree.

::

    EdgeAsrError
     ├ ConfigurationError        the words on the command line or in the configuration are wrong
     │  ├ UnknownProvider
     │  └ DeviceNameUnclear
     ├ InputError                some audio, manifest or corpus cannot be used
     │  ├ AudioNotFound
     │  ├ AudioUnreadable
     │  ├ AudioUnsupported
     │  ├ TooLittleSpeech
     │  └ TranscriptUnwritable
     ├ ModelError                the model is missing, damaged, of the wrong family or too new
     │  ├ ModelNotFound
     │  ├ ModelDamaged
     │  ├ ModelUnsupported
     │  ├ ModelTooNew
     │  └ QuantizationError      the model cannot be quantized, or not like that
     │     ├ AlreadyQuantized
     │     ├ NothingQuantized
     │     ├ NodeUnknown
     │     ├ ChoiceImpossible
     │     └ WeightsNotFinite
     ├ MachineError              this machine cannot do it (now)
     │  ├ ProviderUnavailable
     │  ├ ProviderFailed
     │  ├ LibraryMissing
     │  ├ DeviceUnavailable
     │  ├ DeviceNotFound
     │  ├ AddressInUse
     │  ├ StoreNotWritable
     │  ├ StoreBusy
     │  ├ BatchBusy
     │  ├ DiskFull
     │  ├ NotEnoughMemory
     │  ├ LoadInterrupted
     │  └ FetchFailed
     ├ GateFailed                a gate said no, or the run was invalid
     │  └ QuantizedLess
     └ SessionError              one session fails; nothing else does
        ├ ProtocolViolation
        ├ LimitExceeded
        ├ Overloaded
        │  └ ModelsBusy
        ├ NotReady
        ├ WorkerDied
        └ EngineFailed

Each class has a stable ``code`` that appears in protocol error events, metric labels and logs. An error carries its
facts as attributes and composes its sentence from them: the thing, the value found, the next step.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

__all__ = [
    "AddressInUse",
    "AlreadyQuantized",
    "AudioNotFound",
    "AudioUnreadable",
    "AudioUnsupported",
    "BatchBusy",
    "ChoiceImpossible",
    "ConfigurationError",
    "DeviceNameUnclear",
    "DeviceNotFound",
    "DeviceUnavailable",
    "DiskFull",
    "EdgeAsrError",
    "EngineFailed",
    "FetchFailed",
    "GateFailed",
    "InputError",
    "LibraryMissing",
    "LimitExceeded",
    "LoadInterrupted",
    "MachineError",
    "ModelDamaged",
    "ModelError",
    "ModelNotFound",
    "ModelTooNew",
    "ModelUnsupported",
    "ModelsBusy",
    "NodeUnknown",
    "NotEnoughMemory",
    "NotReady",
    "NothingQuantized",
    "Overloaded",
    "ProtocolViolation",
    "ProviderFailed",
    "ProviderUnavailable",
    "QuantizationError",
    "QuantizedLess",
    "SessionError",
    "StoreBusy",
    "StoreNotWritable",
    "TooLittleSpeech",
    "TranscriptUnwritable",
    "UnknownProvider",
    "WeightsNotFinite",
    "WorkerDied",
    "error_of",
]


class EdgeAsrError(Exception):
    """Root of the tree; never raised itself."""

    code = "internal"
    """Stable identifier, lower_snake_case."""
    is_retryable = False
    """Whether the same request may succeed a moment later."""
    retry_after_s: float | None = None
    """How long that moment is, as far as can be told, seconds."""


class ConfigurationError(EdgeAsrError, ValueError):
    """An option, setting or configuration file is wrong."""

    code = "configuration_invalid"


class UnknownProvider(ConfigurationError):
    """The provider name is not one that any build of the engine knows."""

    code = "provider_unknown"

    def __init__(self, provider: str, known: Sequence[str]) -> None:
        self.provider = provider
        self.known = tuple(known)
        super().__init__(f"unknown provider {provider!r}; use one of: {', '.join(self.known)}")


class DeviceNameUnclear(ConfigurationError):
    """The words that name a sound device do not say which one."""

    code = "device_name_unclear"

    def __init__(self, device: str, reason: str) -> None:
        self.device = device
        super().__init__(f"sound device {device!r}: {reason}; `edge-asr devices` lists their names")


class InputError(EdgeAsrError):
    """Some input cannot be used; the others still can."""

    code = "input_unusable"


class AudioNotFound(InputError, FileNotFoundError):
    """The named audio file does not exist."""

    code = "audio_not_found"

    def __init__(self, path: Path | str) -> None:
        self.path = str(path)
        super().__init__(f"{self.path}: no such audio file")

    def __str__(self) -> str:
        return f"{self.path}: no such audio file"


class AudioUnreadable(InputError, ValueError):
    """The audio is damaged, empty or not audio at all."""

    code = "audio_unreadable"

    def __init__(self, path: Path | str, reason: str) -> None:
        self.path = str(path)
        self.reason = reason
        super().__init__(f"{self.path}: {reason}")


class AudioUnsupported(InputError, ValueError):
    """The audio is of a format that nothing installed here can decode."""

    code = "audio_unsupported"

    def __init__(self, path: Path | str, reason: str) -> None:
        self.path = str(path)
        self.reason = reason
        super().__init__(f"{self.path}: {reason}")


class TooLittleSpeech(InputError, ValueError):
    """A recording holds too little speech to tell a voice by."""

    code = "too_little_speech"

    def __init__(self, path: Path | str, needed_s: float) -> None:
        self.path = str(path)
        self.needed_s = needed_s
        super().__init__(f"{self.path}: there is less than {needed_s:g} s of speech in it; speak some sentences")


class TranscriptUnwritable(InputError, OSError):
    """A recording's transcript cannot have its name where it would go: too long, or taken by a folder."""

    code = "transcript_unwritable"

    def __init__(self, path: str, reason: str) -> None:
        self.path = path
        self.reason = reason
        super().__init__(f"{path} cannot be written ({reason}); give the recording another name")

    def __str__(self) -> str:
        return f"{self.path} cannot be written ({self.reason}); give the recording another name"


class ModelError(EdgeAsrError):
    """The model cannot be used."""

    code = "model_unusable"


class ModelNotFound(ModelError, LookupError):
    """No store holds a model of that name."""

    code = "model_not_found"

    def __init__(self, name: str, next_step: str) -> None:
        self.name = name
        super().__init__(f"model {name!r} is not installed; {next_step}")


class ModelDamaged(ModelError, ValueError):
    """A file of the model is missing, truncated, altered or not what its role needs."""

    code = "model_damaged"

    def __init__(self, model: str, reason: str) -> None:
        self.model = model
        self.reason = reason
        super().__init__(f"model {model!r}: {reason}")


class ModelUnsupported(ModelError, ValueError):
    """The model is whole but of a family, shape or kind that cannot be served."""

    code = "model_unsupported"

    def __init__(self, model: str, reason: str) -> None:
        self.model = model
        self.reason = reason
        super().__init__(f"model {model!r}: {reason}")


class ModelTooNew(ModelUnsupported):
    """The model needs an operator set or file version that the runtime on this machine does not have."""

    code = "model_too_new"


class QuantizationError(ModelError, ValueError):
    """The model cannot be quantized, or not in the way asked for."""

    code = "quantization_impossible"


class AlreadyQuantized(QuantizationError):
    """The graph has quantized weights already; a second time would only lose more."""

    code = "already_quantized"

    def __init__(self, model: str, operators: Mapping[str, int]) -> None:
        self.model = model
        self.operators = dict(operators)
        found = ", ".join(f"{count} {operator}" for operator, count in sorted(self.operators.items()))
        super().__init__(
            f"{model} is quantized already ({found}); start from the float32 model it was made from, or quantize only "
            "what is float in it with --continue"
        )


class NothingQuantized(QuantizationError):
    """Not one node would be quantized."""

    code = "nothing_quantized"

    def __init__(self, recipe: str, reason: str) -> None:
        self.recipe = recipe
        self.reason = reason
        super().__init__(f"{recipe} would quantize nothing: {reason}")


class NodeUnknown(QuantizationError, LookupError):
    """A choice names a node that the graph does not have, or whose weights are not constant."""

    code = "node_unknown"

    def __init__(self, component: str, nodes: Sequence[str], available: int) -> None:
        self.component = component
        self.nodes = tuple(nodes)
        listed = ", ".join(map(repr, self.nodes[:3])) + (" and others" if len(self.nodes) > 3 else "")
        super().__init__(
            f"{component} has no quantizable node {listed} among its {available}; "
            "names change with the exporter, so list them anew"
        )


class ChoiceImpossible(QuantizationError):
    """The node's weights cannot be stored in that way."""

    code = "choice_impossible"

    def __init__(self, component: str, node: str, choice: str, possible: Sequence[str]) -> None:
        self.component = component
        self.node = node
        self.choice = choice
        self.possible = tuple(possible)
        super().__init__(f"{component}: node {node!r} cannot be {choice}; it can be {', '.join(self.possible)}")


class WeightsNotFinite(QuantizationError):
    """Weights are NaN or infinite: the training diverged, or the file is damaged."""

    code = "weights_not_finite"

    def __init__(self, model: str, tensor: str, nodes: Sequence[str]) -> None:
        self.model = model
        self.tensor = tensor
        self.nodes = tuple(nodes)
        used = f", used by {self.nodes[0]!r}" if self.nodes else ""
        super().__init__(f"{model}: the weights {tensor!r}{used} are not finite; take another checkpoint")


class MachineError(EdgeAsrError):
    """This machine cannot do it, or not now."""

    code = "machine_cannot"


class ProviderUnavailable(MachineError):
    """The provider exists but did not, or would not, run here."""

    code = "provider_unavailable"

    def __init__(self, provider: str, reason: str) -> None:
        self.provider = provider
        self.reason = reason
        super().__init__(f"provider {provider!r} is not available here: {reason}")


class ProviderFailed(MachineError):
    """The provider ran, and then failed while decoding."""

    code = "provider_failed"

    def __init__(self, provider: str, reason: str) -> None:
        self.provider = provider
        self.reason = reason
        super().__init__(f"provider {provider!r} failed while decoding: {reason}; run `edge-asr doctor`")


class LibraryMissing(MachineError, ImportError):
    """A system library or optional Python package is not installed."""

    code = "library_missing"

    def __init__(self, library: str, next_step: str) -> None:
        self.library = library
        super().__init__(f"{library} is not installed; {next_step}")


class DeviceUnavailable(MachineError, OSError):
    """A sound device is gone, held by another program, or cannot do what was asked."""

    code = "device_unavailable"

    def __init__(self, device: str, reason: str) -> None:
        self.device = device
        self.reason = reason
        super().__init__(f"sound device {device!r}: {reason}; `edge-asr doctor` says who holds it")

    def __str__(self) -> str:
        return f"sound device {self.device!r}: {self.reason}; `edge-asr doctor` says who holds it"


class DeviceNotFound(MachineError, LookupError):
    """No sound device has this name, or there is none at all."""

    code = "device_not_found"
    is_retryable = True

    def __init__(self, device: str, known: Sequence[str]) -> None:
        self.device = device
        self.known = tuple(known)
        which = f"no sound device {device!r} records" if device else "no sound device records"
        there = f"those that do: {', '.join(self.known)}" if known else "`edge-asr doctor` says what may be in the way"
        super().__init__(f"{which}; {there}")

    def __str__(self) -> str:
        return str(self.args[0])


class AddressInUse(MachineError, OSError):
    """Another program already listens there, or the address cannot be had for another reason."""

    code = "address_in_use"

    def __init__(self, address: str, reason: str = "", chosen_by: str = "its option") -> None:
        self.address = address
        self.reason = reason
        why = reason or "another program already listens there"
        stop = "" if reason else ", or stop that program"
        super().__init__(f"cannot listen on {address}: {why}; choose another with {chosen_by}{stop}")


class StoreNotWritable(MachineError, PermissionError):
    """No model store can be written."""

    code = "store_not_writable"

    def __init__(self, tried: Sequence[Path | str]) -> None:
        self.tried = tuple(str(path) for path in tried)
        super().__init__(
            f"no model store can be written (tried {', '.join(self.tried)}); set EDGE_ASR_HOME to a writable directory"
        )


class StoreBusy(MachineError, BlockingIOError):
    """Another command is changing the same model."""

    code = "store_busy"
    is_retryable = True

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(f"another command is installing or removing model {name!r}; wait for it and try again")


class BatchBusy(MachineError, BlockingIOError):
    """Another batch is writing to the same folder."""

    code = "batch_busy"
    is_retryable = True

    def __init__(self, folder: Path | str) -> None:
        self.folder = str(folder)
        super().__init__(f"another edge-asr batch is writing to {self.folder}; wait for it or name another folder")


class DiskFull(MachineError):
    """What is to be written does not fit."""

    code = "disk_full"

    def __init__(
        self, directory: Path | str, needed_bytes: int = 0, free_bytes: int = 0, *, is_store: bool = False
    ) -> None:
        self.directory = str(directory)
        self.needed_bytes = needed_bytes
        self.free_bytes = free_bytes
        figures = f": {needed_bytes >> 20} MiB are needed and {free_bytes >> 20} MiB are free" if needed_bytes else ""
        elsewhere = "set EDGE_ASR_HOME to a directory elsewhere" if is_store else "name a place elsewhere"
        super().__init__(f"no space left in {self.directory}{figures}; free some, or {elsewhere}")


class NotEnoughMemory(MachineError, MemoryError):
    """The model would not fit in the memory that is free."""

    code = "not_enough_memory"

    def __init__(self, needed_mib: int, available_mib: int, what: str) -> None:
        self.needed_mib = needed_mib
        self.available_mib = available_mib
        super().__init__(
            f"{what} needs about {needed_mib} MiB and {available_mib} MiB are free; use a smaller model or free memory"
        )


class LoadInterrupted(MachineError):
    """The process that loaded the model was ended from outside, or stood still; the model may be fine."""

    code = "load_interrupted"
    is_retryable = True

    def __init__(self, model: str, reason: str) -> None:
        self.model = model
        self.reason = reason
        super().__init__(f"loading {model} was interrupted ({reason}); it is tried again")


class FetchFailed(MachineError):
    """A download did not succeed."""

    code = "fetch_failed"
    is_retryable = True

    def __init__(self, what: str, reason: str, next_step: str = "check the network and run the command again") -> None:
        self.what = what
        self.reason = reason
        super().__init__(f"cannot fetch {what}: {reason}; {next_step}")


class GateFailed(EdgeAsrError):
    """A gate said no, or the run was invalid."""

    code = "gate_failed"


class QuantizedLess(GateFailed):
    """Fewer nodes were quantized than chosen; a tool that says nothing then ships a float model."""

    code = "quantized_less"

    def __init__(self, component: str, choice: str, planned: int, done: int) -> None:
        self.component = component
        self.choice = choice
        self.planned = planned
        self.done = done
        super().__init__(
            f"{component}: {done} of {planned} nodes became {choice}; this is a fault of the quantizer or of its "
            "version of onnxruntime, and the model is not written"
        )


class SessionError(EdgeAsrError):
    """One session fails; the daemon and the other sessions go on."""

    code = "session_failed"


class ProtocolViolation(SessionError, ValueError):
    """The client sent something its protocol does not allow."""

    code = "protocol_violation"


class LimitExceeded(SessionError):
    """A limit on size, duration, sessions or time was reached; the sentence names it."""

    code = "limit_exceeded"

    def __init__(self, limit: str, value: str, allowed: str, next_step: str = "") -> None:
        self.limit = limit
        self.value = value
        self.allowed = allowed
        tail = f"; {next_step}" if next_step else ""
        super().__init__(f"{limit}: {value} exceeds the limit of {allowed}{tail}")


class Overloaded(SessionError):
    """One session more would be too much at the moment; the sentence says for what."""

    code = "overloaded"
    is_retryable = True

    def __init__(self, reason: str, retry_after_s: float = 1.0) -> None:
        self.reason = reason
        self.retry_after_s = retry_after_s
        super().__init__(f"{reason}; try again in {retry_after_s:.0f} s")


class ModelsBusy(Overloaded):
    """As many models as may be are loaded, and each of them has sessions."""

    code = "models_busy"

    def __init__(self, wanted: str, loaded: Sequence[str]) -> None:
        self.wanted = wanted
        self.loaded = tuple(loaded)
        self.retry_after_s = 1.0
        names = ", ".join(map(repr, self.loaded))
        SessionError.__init__(
            self,
            f"model {wanted!r} cannot be loaded beside {names}, which are in use (limits.max_models = "
            f"{len(self.loaded)}); ask for one of these, or try again in a moment",
        )


class NotReady(SessionError):
    """The model is still loading, or could not be loaded."""

    code = "not_ready"
    is_retryable = True
    retry_after_s = 1.0

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"not ready: {reason}; try again in a moment")


class WorkerDied(SessionError):
    """The process that decoded this session ended; a new one is being started."""

    code = "worker_died"
    is_retryable = True
    retry_after_s = 1.0

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"the recogniser process ended ({reason}); a new one is being started, send the audio again")


class EngineFailed(SessionError):
    """The engine raised while decoding this session."""

    code = "engine_failed"

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"the engine failed on this session: {reason}")


def error_of(code: str, message: str) -> EdgeAsrError:
    """The error another process reported, as an instance of its own class; an unknown code is the root of the tree.

    It carries the sentence and the code; the facts that the sentence was composed from stay where it was raised.
    """
    kind = next((kind for kind in _tree(EdgeAsrError) if kind.code == code), EdgeAsrError)

    # The classes compose their sentence in __init__ from facts that we do not have; this one takes it as it is.
    def take_sentence(self: EdgeAsrError, sentence: str) -> None:
        Exception.__init__(self, sentence)

    reported = type(kind.__name__, (kind,), {"__init__": take_sentence, "__str__": Exception.__str__})
    error: EdgeAsrError = reported(message)
    return error


def _tree(root: type[EdgeAsrError]) -> Iterator[type[EdgeAsrError]]:
    yield root
    for kind in root.__subclasses__():
        yield from _tree(kind)
