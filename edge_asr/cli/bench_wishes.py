"""What was asked of ``bench``, checked before anything is loaded."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import cast

from edge_asr.bench.document import Mode
from edge_asr.bench.sweep import Sweep, parse_cores, parse_numbers
from edge_asr.cli.durations import parse_duration_s
from edge_asr.cli.options import require_folder
from edge_asr.engines.providers import known_provider
from edge_asr.errors import ConfigurationError
from edge_asr.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """Words of the command line as values; ``None`` and empty where nothing was said."""

    models: tuple[str, ...]
    audio: Path | None
    modes: tuple[Mode, ...]
    threads: tuple[int, ...] | None
    cpus: tuple[tuple[int, ...], ...]
    providers: tuple[str, ...] | None
    batches: tuple[int, ...] | None
    windows_ms: tuple[int, ...] | None
    spinning: tuple[bool, ...] | None
    streams: tuple[int, ...]
    pieces_ms: tuple[int, ...]
    asks_for_second_pass: bool
    """Whether it was named, if only to say that there is none: one that is configured is not measured unasked."""
    url: str
    token_file: str | None
    soak_s: float
    """0: no soak."""
    profiles_operators: bool
    repetitions: int
    seconds: float
    seed: int
    json_path: Path | None
    html_path: Path | None
    is_markdown: bool

    @classmethod
    def checked(
        cls,
        *,
        models: tuple[str, ...],
        audio: Path | None,
        mode: str,
        threads: str | None,
        streams: str,
        cpus: tuple[str, ...],
        providers: str | None,
        pieces: str,
        batch: str | None,
        window: str | None,
        spinning: str | None,
        asks_for_second_pass: bool,
        url: str | None,
        token_file: str | None,
        soak: str | None,
        accelerates: bool,
        profiles_operators: bool,
        repetitions: int,
        seconds: float,
        seed: int,
        json_path: Path | None,
        html_path: Path | None,
        is_markdown: bool,
    ) -> Wishes:
        """From the words of the command line.

        Raises:
            ConfigurationError: A word is wrong, or two do not go together.
        """
        if accelerates and not soak:
            raise ConfigurationError("--accelerate belongs to --soak; add e.g. --soak 24h")
        if token_file and not url:
            raise ConfigurationError("--token-file belongs to --url; add e.g. --url http://board:8765")
        engine_words = (cpus, providers, profiles_operators, batch, window, threads, spinning, asks_for_second_pass)
        if url and (models or any(engine_words)):
            raise ConfigurationError(
                "--url measures a daemon as it runs; its model, second pass, threads, cores, provider, batch, window "
                "and spinning are set where it is started"
            )
        for path in (json_path, html_path):
            require_folder(path)
        soak_s = parse_duration_s(soak, "--soak") if soak else 0.0
        wanted = ("throughput", "paced") if mode == "both" else (mode,)
        return cls(
            models=models,
            audio=audio,
            modes=cast("tuple[Mode, ...]", ("throughput" if accelerates else "paced",) if soak_s else wanted),
            threads=parse_numbers(threads, "--threads", 1, 64) if threads else None,
            cpus=tuple(parse_cores(text) for text in cpus),
            providers=tuple(known_provider(name.strip()) for name in providers.split(",")) if providers else None,
            batches=parse_numbers(batch, "--batch", 1, 256) if batch else None,
            windows_ms=parse_numbers(window, "--window", 0, 1000) if window else None,
            spinning={"off": (False,), "on": (True,), "both": (False, True)}[spinning] if spinning else None,
            streams=parse_numbers(streams, "--streams", 1, 1000),
            pieces_ms=parse_numbers(pieces, "--pieces", 10, 5000),
            asks_for_second_pass=asks_for_second_pass,
            url=url or "",
            token_file=token_file,
            soak_s=soak_s,
            profiles_operators=profiles_operators,
            repetitions=1 if soak_s else repetitions,
            seconds=soak_s or seconds,
            seed=seed,
            json_path=json_path,
            html_path=html_path,
            is_markdown=is_markdown,
        )

    def sweep(self, settings: Settings) -> Sweep:
        """What is varied; where nothing was said, the configuration speaks."""
        engine = settings.engine
        return Sweep(
            modes=self.modes,
            providers=self.providers or (known_provider(engine.provider),),
            threads=self.threads or (engine.threads,),
            cpus=self.cpus or ((settings.worker.cpus,) if settings.worker.cpus else ()),
            streams=self.streams,
            pieces_ms=self.pieces_ms,
            batches=self.batches or (settings.scheduler.max_batch,),
            windows_ms=self.windows_ms or (settings.scheduler.window_ms,),
            spinning=self.spinning or (engine.allow_spinning,),
        )
