"""Every setting, in small frozen groups; each part of the program receives only its own group.

The defaults stand here and nowhere else. ``cli/configuration.py`` merges them with the TOML file, ``EDGE_ASR_*`` and
the options of the command line; nothing below ``cli`` and ``daemon`` reads the environment or a file.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Literal, get_args

from edge_asr.errors import ConfigurationError
from edge_asr.requests import Channel

DecodingMethod = Literal["greedy_search", "modified_beam_search"]
MemoryProfile = Literal["low", "normal"]
ProviderFallback = Literal["none", "cpu"]
NpuCores = Literal["auto", "0", "1", "2", "0+1", "0+1+2"]
LogLevel = Literal["debug", "info", "warning", "error"]
NumberOrAuto = int | Literal["auto"]

MIN_HOTWORDS_SCORE = 0.1
MAX_HOTWORDS_SCORE = 20.0
"""More than that, and the phrase is written whatever is said."""


def _in_range(group: str, name: str, value: float, low: float, high: float) -> None:
    if not low <= value <= high:
        raise ConfigurationError(f"{group}.{name} = {value} is outside {low:g} to {high:g}")


def _in_range_or_auto(group: str, name: str, value: NumberOrAuto, low: float, high: float) -> None:
    if value != "auto":
        _in_range(group, name, value, low, high)


def _one_of(group: str, name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ConfigurationError(f"{group}.{name} = {value!r} is not one of: {', '.join(allowed)}")


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """How a model is loaded and decoded. TOML table ``[engine]``."""

    provider: str = "cpu"
    """Execution provider, by the engine's own name; ``ort:XNNPACK`` and the like for those of ONNX Runtime."""
    provider_options: str = ""
    """Options of ONNX Runtime's provider, ``key=value,key=value``; for ``qnn`` and ``ort:…``."""
    npu_cores: NpuCores = "auto"
    """Cores of a Rockchip NPU that run the model: one, two or all three of them; ``auto`` leaves it to the driver."""
    fallback: ProviderFallback = "none"
    """``cpu``: a provider that cannot run, or that fails again and again, is replaced by the CPU, and this is
    announced. ``none``: it is an error."""
    threads: int = 1
    """Threads that share one decoding step."""
    parallel_streams: NumberOrAuto = "auto"
    """Streams decoded side by side in a worker, each on ``threads`` threads, with one copy of the model; ``auto`` for
    as many as the worker's cores are enough for."""
    allow_spinning: bool = False
    """Whether idle engine threads burn a core to answer some microseconds sooner."""
    batch_int8: bool = False
    """Whether dynamically quantized streaming models are decoded in batches too: a third less work with eight streams
    at once; but one scale spans the batch, so a stream's text depends a little on who else is talking."""
    exact_int8: bool = False
    """Whether x86 processors without VNNI multiply 8-bit numbers without saturation: slower, and the text that an ARM
    board gives. Without effect on other processors."""
    memory_profile: MemoryProfile = "normal"
    """``low`` gives memory back between runs (no arena, no memory pattern) at some cost in speed."""
    decoding_method: DecodingMethod = "greedy_search"
    max_active_paths: int = 4
    """Beam width of ``modified_beam_search``."""
    hotwords_file: str = ""
    """File of words and phrases to expect in every session, one a line, each with or without a boost of its own at its
    end, such as ``:2.0``; for transducers decoded by ``modified_beam_search``."""
    hotwords_score: float = 1.5
    """Boost of hotwords that have none of their own: what each of their tokens gains, natural logarithm."""
    use_graph: bool = True
    """Whether a CTC model that brings a decoding graph is decoded with it."""
    graph: str = ""
    """File of a decoding graph to use instead of the model's own; for CTC models that take one."""
    rule_fsts: tuple[str, ...] = ()
    """Files of rules (``.fst``) that the engine itself rewrites its text by, in this order, as sherpa-onnx has them
    for numbers in Chinese; partials too."""
    rule_fars: tuple[str, ...] = ()
    """The same as archives of rules (``.far``); they come after the single ones."""
    hr_lexicon: str = ""
    """File of pronunciations for replacing homophones in Chinese; needs ``hr_rule_fsts`` too."""
    hr_rule_fsts: str = ""
    """File of the rules (``.fst``) that replace homophones."""
    left_padding_ms: int = 100
    """Silence put before the first sample, so that the first word is not lost; times are corrected for it."""
    partial_interval_ms: int = 600
    """How often an open segment of a non-streaming model is decoded again for a partial."""
    vad_threshold: float = 0.5
    """Speech probability above which the voice activity detector hears speech (non-streaming models)."""
    vad_silence_ms: int = 300
    """Silence that closes a stretch of speech (non-streaming models)."""

    def __post_init__(self) -> None:
        if not self.provider.strip():
            raise ConfigurationError('engine.provider is empty; write engine.provider = "cpu"')
        _one_of("engine", "npu_cores", self.npu_cores, get_args(NpuCores))
        _one_of("engine", "fallback", self.fallback, get_args(ProviderFallback))
        _one_of("engine", "memory_profile", self.memory_profile, get_args(MemoryProfile))
        _one_of("engine", "decoding_method", self.decoding_method, get_args(DecodingMethod))
        _in_range("engine", "threads", self.threads, 1, 64)
        _in_range_or_auto("engine", "parallel_streams", self.parallel_streams, 1, 64)
        _in_range("engine", "max_active_paths", self.max_active_paths, 1, 64)
        _in_range("engine", "hotwords_score", self.hotwords_score, MIN_HOTWORDS_SCORE, MAX_HOTWORDS_SCORE)
        _in_range("engine", "left_padding_ms", self.left_padding_ms, 0, 2000)
        _in_range("engine", "partial_interval_ms", self.partial_interval_ms, 100, 10_000)
        _in_range("engine", "vad_threshold", self.vad_threshold, 0.01, 0.99)
        _in_range("engine", "vad_silence_ms", self.vad_silence_ms, 50, 5000)


@dataclass(frozen=True, slots=True)
class EndpointSettings:
    """When a segment is closed. TOML table ``[endpoint]``. All times are of audio, not of the wall clock."""

    silence_ms: int = 1200
    """Silence after something was recognised."""
    silence_without_text_ms: int = 2400
    """Silence before anything was recognised: the segment starts over, without a final."""
    no_new_token_ms: int = 6000
    """Safety net: nothing new was recognised for so long although the engine hears no silence."""
    max_segment_ms: int = 20_000
    """Safety net: no segment is longer."""

    def __post_init__(self) -> None:
        _in_range("endpoint", "silence_ms", self.silence_ms, 100, 60_000)
        _in_range("endpoint", "silence_without_text_ms", self.silence_without_text_ms, 100, 600_000)
        _in_range("endpoint", "no_new_token_ms", self.no_new_token_ms, 500, 600_000)
        _in_range("endpoint", "max_segment_ms", self.max_segment_ms, 1000, 300_000)


@dataclass(frozen=True, slots=True)
class SchedulerSettings:
    """How ready streams share the decode thread. TOML table ``[scheduler]``."""

    max_batch: int = 16
    """Streams decoded in one call of the engine."""
    window_ms: int = 0
    """How long a decoding step may wait for more streams to become ready, so that more share it: less work for each,
    and later text. Without effect on models that are not decoded in batches (non-streaming ones, dynamic int8)."""
    accumulate_ms: int = 60
    """Audio of a stream that is gathered before it is looked at: saves work where clients send small pieces."""
    backlog_s: float = 30.0
    """Seconds of undecoded audio one session may hold: then the sender is slowed, or the oldest is dropped (live)."""

    def __post_init__(self) -> None:
        _in_range("scheduler", "max_batch", self.max_batch, 1, 256)
        _in_range("scheduler", "window_ms", self.window_ms, 0, 1000)
        _in_range("scheduler", "accumulate_ms", self.accumulate_ms, 0, 300)
        _in_range("scheduler", "backlog_s", self.backlog_s, 1, 600)


@dataclass(frozen=True, slots=True)
class GateSettings:
    """Which silence is kept from a streaming model. TOML table ``[gate]``. Recordings are always decoded whole."""

    enabled: bool = True
    """Whether long silence of a live stream is skipped: it costs next to nothing then, and words and times stay."""
    margin_db: float = 6.0
    """Sound is what is louder than the background by so much; the background is followed."""
    pre_roll_ms: int = 250
    """Audio before a sound that is decoded with it: words begin softly."""
    hang_over_ms: int = 100
    """Silence that is still decoded, besides what the model needs to say its last words."""

    def __post_init__(self) -> None:
        _in_range("gate", "margin_db", self.margin_db, 1, 40)
        _in_range("gate", "pre_roll_ms", self.pre_roll_ms, 0, 2000)
        _in_range("gate", "hang_over_ms", self.hang_over_ms, 0, 5000)


@dataclass(frozen=True, slots=True)
class TextSettings:
    """How finals are written; the text as it was heard is always given beside. TOML table ``[text]``."""

    itn: bool = False
    """Whether numbers, dates, money and times are written in figures, unless a session says otherwise: English; Chinese
    and Japanese with the extra ``itn``."""
    punctuation: bool = False
    """Whether finals of models that write neither capitals nor punctuation get both, from the punctuation model of the
    store where one is installed, else capitals only; unless a session says otherwise."""


@dataclass(frozen=True, slots=True)
class WakeSettings:
    """A phrase before anything is recognised. TOML table ``[wake]``. For live sessions, as a microphone's are."""

    phrases: tuple[str, ...] = ()
    """What is to be said first, any of them; empty: everything is recognised."""
    model: str = "starter-en-transducer"
    """Store name of the keyword model: a streaming zipformer transducer."""
    threshold: float = 0.25
    """Mean probability of a phrase's tokens above which it counts as said: higher is stricter."""
    boost: float = 1.5
    """What each token of a phrase gains in the search, natural logarithm: higher finds more."""
    listen_ms: int = 5000
    """Silence after which the phrase is needed again; it is after each final, too."""

    def __post_init__(self) -> None:
        if not all(map(str.strip, self.phrases)):
            raise ConfigurationError("wake.phrases holds an empty phrase; leave it out")
        _in_range("wake", "threshold", self.threshold, 0.01, 0.99)
        _in_range("wake", "boost", self.boost, 0, 10)
        _in_range("wake", "listen_ms", self.listen_ms, 500, 600_000)


@dataclass(frozen=True, slots=True)
class SecondPassSettings:
    """Finals from a second, better model behind a streaming one. TOML table ``[second_pass]``."""

    model: str = ""
    """Store name of a non-streaming model that hears each segment again when it is over; empty for none. Partials are
    the streaming model's, finals its own."""
    deadline_ms: int = 1500
    """How long a final is waited for after its segment is over; then it is the streaming model's."""
    threads: int = 1
    """Threads of the second model; they give way to the decoding of partials."""

    def __post_init__(self) -> None:
        _in_range("second_pass", "deadline_ms", self.deadline_ms, 50, 60_000)
        _in_range("second_pass", "threads", self.threads, 1, 64)


@dataclass(frozen=True, slots=True)
class SpeakerSettings:
    """Whose voice a segment is, of those enrolled by `edge-asr speakers enroll`. TOML table ``[speakers]``."""

    model: str = ""
    """Store name of a speaker embedding model; empty: voices are not told apart."""
    threshold: float = 0.6
    """Likeness (cosine of the embeddings) from which on it is the enrolled speaker: higher is stricter. It depends on
    the model and on the microphone."""
    deadline_ms: int = 500
    """How long a final is held back for it after its segment is over; then it is said without."""

    def __post_init__(self) -> None:
        _in_range("speakers", "threshold", self.threshold, 0, 1)
        _in_range("speakers", "deadline_ms", self.deadline_ms, 0, 60_000)


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """The process that holds the engine. TOML table ``[worker]``."""

    cpus: tuple[int, ...] = ()
    """Cores the workers may use; empty for the fastest clusters of those the daemon itself may use."""
    count: NumberOrAuto = "auto"
    """Workers that serve the active model, each with cores of its own and its own copy of the model in memory;
    ``auto`` for one per cluster of big cores, which is one on most boards."""
    memory_limit_mib: NumberOrAuto = "auto"
    """Memory of one worker. At three quarters of the way from what it takes when warm to here it is replaced by a
    fresh one, at the limit no sessions are opened either; where the kernel lets us, it is held to it. ``auto``: twice
    what it takes when warm, and at least 128 MiB more; 0 for no limit."""
    load_timeout_s: float = 120.0
    """From start to READY."""
    restart_delay_s: float = 0.1
    """Before a restart; from the seventh within a minute on doubled, up to ``max_restart_delay_s``."""
    max_restart_delay_s: float = 30.0
    hang_timeout_s: float = 10.0
    """A worker with sessions that is silent for so long is replaced: it is stopped, or waits for something for ever."""
    stall_timeout_s: float = 60.0
    """A worker whose decoding makes no progress for so long is replaced; the longest step must be shorter."""
    replay_patience_s: float = 30.0
    """How long sessions of a lost worker wait for the next one before they fail."""
    lead_in_s: float = 1.0
    """Audio before the last final that a new worker hears again, so that a session's words come out as they would
    have; kept by the front for each session, 32 kB a second at 16 kHz. 0 for none."""
    malloc_arenas: int = 1
    """Upper bound on glibc's memory arenas."""
    recycle_after_s: float = 0.0
    """A worker of this age is replaced by a fresh one, which nobody notices; 0 for never."""
    recycle_after_sessions: int = 0
    """Likewise one that has had so many sessions; 0 for any number."""
    recycle_after_growth_mib: int = 0
    """Likewise one whose resident memory has grown by so much since it was warm; 0 for any growth."""
    idle_unload_s: float = 0.0
    """A model that nobody has used for so long is unloaded, and loaded again for the next session; 0 for never."""
    swap_drain_s: float = 60.0
    """After a change of the active model its sessions may go on with the one before for so long; then they are moved
    between two segments."""

    def __post_init__(self) -> None:
        if any(cpu < 0 for cpu in self.cpus):
            raise ConfigurationError(f"worker.cpus = {list(self.cpus)}: cores are numbered from 0")
        _in_range("worker", "load_timeout_s", self.load_timeout_s, 1, 3600)
        _in_range("worker", "restart_delay_s", self.restart_delay_s, 0, 600)
        _in_range("worker", "max_restart_delay_s", self.max_restart_delay_s, 0, 3600)
        _in_range("worker", "hang_timeout_s", self.hang_timeout_s, 1, 3600)
        _in_range("worker", "stall_timeout_s", self.stall_timeout_s, 1, 3600)
        _in_range("worker", "replay_patience_s", self.replay_patience_s, 0, 3600)
        _in_range("worker", "lead_in_s", self.lead_in_s, 0, 30)
        _in_range("worker", "malloc_arenas", self.malloc_arenas, 1, 64)
        _in_range_or_auto("worker", "count", self.count, 1, 256)
        _in_range_or_auto("worker", "memory_limit_mib", self.memory_limit_mib, 0, 1 << 20)
        _in_range("worker", "recycle_after_s", self.recycle_after_s, 0, 1e9)
        _in_range("worker", "recycle_after_sessions", self.recycle_after_sessions, 0, 1_000_000_000)
        _in_range("worker", "recycle_after_growth_mib", self.recycle_after_growth_mib, 0, 1_000_000)
        _in_range("worker", "idle_unload_s", self.idle_unload_s, 0, 1e9)
        _in_range("worker", "swap_drain_s", self.swap_drain_s, 0, 86_400)


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """Doors of the daemon. TOML table ``[server]``."""

    host: str = "127.0.0.1"
    port: int = 8765
    """HTTP and websocket; 0 takes a free one and says which."""
    wyoming: str = "tcp://127.0.0.1:10300"
    """``tcp://HOST:PORT``, ``unix://PATH`` or ``off``."""
    zeroconf: bool = False
    """Whether the Wyoming door is announced in the local network (extra ``discovery``); it must be open beyond
    loopback."""
    vosk_port: int = 0
    """Port for vosk-server's protocol alone, at ``host``, usually 2700; 0 for none. It is at ``/vosk`` in any case."""
    sherpa_port: int = 0
    """Port for sherpa-onnx's protocols alone, at ``host``, usually 6006; 0 for none. They are at ``/sherpa`` and
    ``/sherpa-offline`` in any case."""
    allow: tuple[str, ...] = ()
    """Networks from which doors without credentials (Wyoming, the Vosk and sherpa ports) may be used when they are
    open beyond loopback."""
    insecure: tuple[str, ...] = ()
    """Doors that are open to everybody all the same."""
    token_file: str = ""
    """File with the bearer token; needed when HTTP is open beyond loopback."""
    tls_cert: str = ""
    tls_key: str = ""
    admin_socket: str = ""
    """Unix socket for ``edge-asr models activate`` and the like; empty for ``admin.sock`` in ``$RUNTIME_DIRECTORY``,
    ``/run/edge-asr`` or ``$XDG_RUNTIME_DIR/edge-asr``, whichever can be written; ``off`` for none."""
    drain_s: float = 10.0
    """How long running sessions may still finish after SIGTERM."""

    def __post_init__(self) -> None:
        _in_range("server", "port", self.port, 0, 65_535)
        _in_range("server", "vosk_port", self.vosk_port, 0, 65_535)
        _in_range("server", "sherpa_port", self.sherpa_port, 0, 65_535)
        _in_range("server", "drain_s", self.drain_s, 0, 600)
        if bool(self.tls_cert) != bool(self.tls_key):
            raise ConfigurationError("server.tls_cert and server.tls_key are only useful together; set both or none")


@dataclass(frozen=True, slots=True)
class LimitSettings:
    """What one client may ask for. TOML table ``[limits]``. Every refusal names the limit."""

    max_sessions: int = 16
    max_models: int = 2
    """Models that are loaded at once: the active one, and those that sessions ask for by name."""
    max_connections_per_address: int = 64
    """Connections, and with them sessions, that one address may hold at each door; 0 for any number. Clients on this
    machine are not counted."""
    max_message_bytes: int = 1 << 20
    """One websocket message, or one Wyoming event."""
    read_ahead_bytes: int = 64 << 20
    """Audio of one websocket that may wait, most of it on disk, so that a client's pings are answered behind it; 0 for
    none. Then the client is slowed down."""
    max_upload_bytes: int = 256 << 20
    """One uploaded file as sent."""
    max_upload_s: float = 4 * 3600.0
    """One uploaded file, decoded."""
    max_session_s: float = 24 * 3600.0
    """Audio of one streaming session."""
    idle_timeout_s: float = 30.0
    """A streaming session that sends nothing gets its final and is closed."""
    hello_timeout_s: float = 10.0
    """A connection that never says what it wants is closed."""

    def __post_init__(self) -> None:
        _in_range("limits", "max_sessions", self.max_sessions, 1, 10_000)
        _in_range("limits", "max_models", self.max_models, 1, 64)
        _in_range("limits", "max_connections_per_address", self.max_connections_per_address, 0, 10_000)
        _in_range("limits", "max_message_bytes", self.max_message_bytes, 4096, 1 << 30)
        _in_range("limits", "read_ahead_bytes", self.read_ahead_bytes, 0, 1 << 40)
        _in_range("limits", "max_upload_bytes", self.max_upload_bytes, 4096, 1 << 40)
        _in_range("limits", "max_upload_s", self.max_upload_s, 1, 1e6)
        _in_range("limits", "max_session_s", self.max_session_s, 1, 1e8)
        _in_range("limits", "idle_timeout_s", self.idle_timeout_s, 0.1, 86_400)
        _in_range("limits", "hello_timeout_s", self.hello_timeout_s, 0.1, 600)


@dataclass(frozen=True, slots=True)
class AdmissionSettings:
    """How many live streams the workers may carry. TOML table ``[admission]``."""

    enabled: bool = True
    """Whether a session that could not be decoded in time is refused; else only ``limits.max_sessions`` counts."""
    max_load: float = 0.9
    """Share of what a worker can decode in time that live streams may need."""
    talk_share: float = 1.0
    """Share of the time that somebody speaks in a new session, until it is known: 0.4 suits conversations."""
    streams: int = 0
    """Streams that one worker is known to carry, as ``tune`` writes into the board profile; what is measured while
    the daemon runs counts more. 0: not known."""
    cpu_per_audio: float = 0.0
    """CPU time a stream takes per second of audio, as ``tune`` writes into the board profile. 0: not known."""
    lighter_model: str = ""
    """Store name of a model that new sessions get while the load is high; empty for none, so that they are refused."""
    lighter_above: float = 0.75
    """Load, by the capacity of the active model's cores, above which they get it: both models share these cores."""
    lighter_until: float = 0.5
    """Load at which new sessions get the active model again."""
    temperature_limit_c: float = 0.0
    """Temperature at which the machine slows itself down; 0 for what its own sensors say, else 80 °C."""

    def __post_init__(self) -> None:
        _in_range("admission", "max_load", self.max_load, 0.1, 1)
        _in_range("admission", "talk_share", self.talk_share, 0.05, 1)
        _in_range("admission", "streams", self.streams, 0, 100_000)
        _in_range("admission", "cpu_per_audio", self.cpu_per_audio, 0, 1000)
        _in_range("admission", "lighter_above", self.lighter_above, 0, 1)
        _in_range("admission", "lighter_until", self.lighter_until, 0, self.lighter_above)
        _in_range("admission", "temperature_limit_c", self.temperature_limit_c, 0, 150)


@dataclass(frozen=True, slots=True)
class MicrophoneSettings:
    """The microphone of this machine. TOML table ``[microphone]``."""

    device: str = ""
    """Name of the sound device or a part of it, id of its card, ``usb:PATH`` or ``default``; empty: the daemon has no
    microphone, and ``listen`` takes the default one. `edge-asr devices` lists them."""
    channel: Channel = "mix"
    """Which of several channels is heard: ``mix``, ``left`` or ``right``."""

    def __post_init__(self) -> None:
        _one_of("microphone", "channel", self.channel, get_args(Channel))


@dataclass(frozen=True, slots=True)
class MqttSettings:
    """Finals to an MQTT broker (extra ``mqtt``). TOML table ``[mqtt]``."""

    url: str = ""
    """``mqtt://HOST:1883`` or ``mqtts://HOST:8883``; empty for none."""
    topic: str = "edge-asr"
    """Finals go to ``TOPIC/final``, ``online`` and ``offline`` to ``TOPIC/status``."""
    username: str = ""
    password_file: str = ""
    queue: int = 256
    """Finals kept while the broker cannot be reached; then the oldest are dropped."""

    def __post_init__(self) -> None:
        _in_range("mqtt", "queue", self.queue, 1, 100_000)
        if not self.topic or any(sign in self.topic for sign in "#+\0"):
            raise ConfigurationError(f"mqtt.topic = {self.topic!r} is no topic to publish under")


@dataclass(frozen=True, slots=True)
class HookSettings:
    """A command for each final. TOML table ``[hook]``."""

    command: tuple[str, ...] = ()
    """Program and arguments, without a shell; the text is in ``$EDGE_ASR_TEXT``, JSON on standard input. Empty for
    none."""
    timeout_s: float = 10.0
    """After which it is ended."""
    queue: int = 64
    """Finals kept while it runs; then the oldest are dropped."""

    def __post_init__(self) -> None:
        _in_range("hook", "timeout_s", self.timeout_s, 0.1, 3600)
        _in_range("hook", "queue", self.queue, 1, 100_000)


@dataclass(frozen=True, slots=True)
class CommandSettings:
    """Spoken commands. TOML table ``[commands]``."""

    file: str = ""
    """Sentence templates in Home Assistant's format, or a folder of such files; empty: open speech only."""
    min_score: float = 0.5
    """Surer than this it must be that a command was spoken; what is not is open speech."""

    def __post_init__(self) -> None:
        _in_range("commands", "min_score", self.min_score, 0, 1)


@dataclass(frozen=True, slots=True)
class LogSettings:
    """What is written to standard error. TOML table ``[log]``."""

    level: LogLevel = "info"
    trace_directory: str = ""
    """Where sessions are written down when somebody asks for it; empty for ``traces`` in ``$STATE_DIRECTORY``, else in
    ``$XDG_STATE_HOME/edge-asr`` or ``~/.local/state/edge-asr``."""

    def __post_init__(self) -> None:
        _one_of("log", "level", self.level, get_args(LogLevel))


@dataclass(frozen=True, slots=True)
class Settings:
    """All groups; built once in ``cli/`` and taken apart again by whoever builds objects."""

    model: str = ""
    """Store name or directory; empty for the active model."""
    engine: EngineSettings = field(default_factory=EngineSettings)
    endpoint: EndpointSettings = field(default_factory=EndpointSettings)
    scheduler: SchedulerSettings = field(default_factory=SchedulerSettings)
    gate: GateSettings = field(default_factory=GateSettings)
    wake: WakeSettings = field(default_factory=WakeSettings)
    second_pass: SecondPassSettings = field(default_factory=SecondPassSettings)
    speakers: SpeakerSettings = field(default_factory=SpeakerSettings)
    text: TextSettings = field(default_factory=TextSettings)
    worker: WorkerSettings = field(default_factory=WorkerSettings)
    server: ServerSettings = field(default_factory=ServerSettings)
    limits: LimitSettings = field(default_factory=LimitSettings)
    admission: AdmissionSettings = field(default_factory=AdmissionSettings)
    microphone: MicrophoneSettings = field(default_factory=MicrophoneSettings)
    mqtt: MqttSettings = field(default_factory=MqttSettings)
    hook: HookSettings = field(default_factory=HookSettings)
    commands: CommandSettings = field(default_factory=CommandSettings)
    log: LogSettings = field(default_factory=LogSettings)


def group_names() -> tuple[str, ...]:
    """Names of the groups, which are the tables of the TOML file."""
    return tuple(entry.name for entry in dataclasses.fields(Settings) if entry.name != "model")
