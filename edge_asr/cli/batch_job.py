"""The work of ``batch``: which recordings, which model, which crew; then the foreman's run and its report."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

import click

from edge_asr.batch.crew import Crew
from edge_asr.batch.foreman import Foreman, Report
from edge_asr.batch.ledger import Ledger
from edge_asr.batch.local_crew import LocalCrew
from edge_asr.batch.memory_valve import MemoryValve
from edge_asr.batch.messages import Heard, Order
from edge_asr.batch.order import make_order, recipe_of
from edge_asr.batch.recordings import Recording, find_recordings, read_list
from edge_asr.cli import exit_codes
from edge_asr.cli.batch_report import json_report, sentence
from edge_asr.cli.messages import complain, remark
from edge_asr.cli.model_notes import notes_on
from edge_asr.cli.recording_progress import recording_bar
from edge_asr.cli.recordings import STANDARD_INPUT
from edge_asr.cli.stores import choose_model, open_store
from edge_asr.cli.transcription_job import heeding_hotwords
from edge_asr.cli.transcripts import SUFFIXES, RecordingTranscript, TranscriptFormat, document
from edge_asr.errors import ConfigurationError, InputError
from edge_asr.requests import Channel
from edge_asr.resources.memory import available_bytes, total_bytes
from edge_asr.settings import Settings, WorkerSettings
from edge_asr.sources.file import RAW_SUFFIXES
from edge_asr.sources.pcm import parse_layout
from edge_asr.store.store import InstalledModel
from edge_asr.store.voice_activity import installed_vad
from edge_asr.workers.enrolled import enrolled_voices
from edge_asr.workers.loading import needed_bytes
from edge_asr.workers.models import installed_punctuation, second_model
from edge_asr.workload import AUDIO_SUFFIXES


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the user asked for, checked."""

    inputs: tuple[str, ...]
    output: Path
    transcript_format: TranscriptFormat
    channel: Channel | Literal["each"]
    raw: str
    """How samples without a header are written; empty: recordings have headers."""
    jobs: int | None
    """Processes on this machine; ``None`` for a core each."""
    scheduler: str | None
    """Address of a Dask scheduler; ``None`` for this machine."""
    begins_again: bool
    as_json: bool

    @classmethod
    def checked(
        cls,
        *,
        inputs: tuple[str, ...],
        lists: tuple[str, ...],
        output: str,
        transcript_format: str,
        channel: str,
        raw: str | None,
        jobs: int | None,
        scheduler: str | None,
        begins_again: bool,
        as_json: bool,
    ) -> Wishes:
        """From the words of the command line.

        Raises:
            ConfigurationError: They do not go together, or the raw format is wrong.
            InputError: A list cannot be read.
        """
        if scheduler is not None and jobs is not None:
            raise ConfigurationError(
                "--jobs counts processes of this machine, and --scheduler uses a cluster's; drop one"
            )
        if not output:
            raise ConfigurationError("-o is empty; name the folder for the transcripts, . for this one")
        layout = str(parse_layout(raw)) if raw is not None else ""
        named = (*inputs, *(path for name in lists for path in _listed(name)))
        if not named and not lists:
            raise ConfigurationError("no recordings: name files or folders, or a list of them with --from FILE")
        return cls(
            inputs=named,
            output=Path(output),
            transcript_format=cast("TranscriptFormat", transcript_format),
            channel=cast('Channel | Literal["each"]', channel),
            raw=layout,
            jobs=jobs,
            scheduler=scheduler,
            begins_again=begins_again,
            as_json=as_json,
        )


def run_job(wishes: Wishes, settings: Settings) -> int:
    """Hear what was not heard before, and say what became of it.

    Returns:
        The exit code: 3 when recordings could not be used.

    Raises:
        EdgeAsrError: Nothing can be begun, or nobody can go on; what is done is in the ledger.
    """
    suffixes = RAW_SUFFIXES if wishes.raw else AUDIO_SUFFIXES
    recordings = find_recordings(wishes.inputs, wishes.output, suffixes)
    if not recordings:
        remark(f"nothing named is a recording: folders are searched for {', '.join(sorted(suffixes))}")
    store = open_store()
    model = choose_model(store, settings.model, prefers_dictation=not settings.second_pass.model)
    voices = enrolled_voices(store, settings.speakers)
    if wishes.scheduler and (settings.second_pass.model or voices):
        raise ConfigurationError(
            "workers of a cluster have neither a second pass nor the voices enrolled here; leave out second_pass.model "
            "and speakers.model, or --scheduler"
        )
    second = second_model(store, model.manifest, settings.second_pass)
    for note in (*notes_on(store, model, settings), *([voices.note] if voices and voices.note else [])):
        remark(note)
    settings = heeding_hotwords(settings, model.manifest)
    punctuation = installed_punctuation(store)
    order = make_order(
        model, settings, installed_vad(store), wishes.channel, punctuation, second, voices, raw=wishes.raw
    )
    beside = [each for each in (second, voices.model if voices else None) if each]
    started_s = time.monotonic()
    with ExitStack() as stack:
        ledger = Ledger.open(wishes.output, recipe_of(order, wishes.transcript_format), begin_again=wishes.begins_again)
        stack.callback(ledger.close)
        crew = stack.enter_context(_crew(wishes, order, [model, *beside], settings.worker))
        show = stack.enter_context(recording_bar(len(recordings), is_wanted=True))
        foreman = Foreman(
            wishes.output,
            ledger,
            crew,
            _renderer(model.manifest.name, wishes.transcript_format),
            lambda recording, settled: show(str(recording.path), settled),
        )
        report = _run(foreman, recordings)
    _say(report, time.monotonic() - started_s, crew.description, as_json=wishes.as_json)
    return exit_codes.INPUT if report.bad else exit_codes.DONE


def _run(foreman: Foreman, recordings: Sequence[Recording]) -> Report:
    try:
        return foreman.run(recordings)
    except BaseException:
        left = len(recordings) - foreman.report.settled
        remark(f"{foreman.report.settled} recordings are settled, {left} are left; the same command goes on from here")
        raise


def _listed(name: str) -> list[str]:
    try:
        return read_list(sys.stdin.buffer.read() if name == STANDARD_INPUT else Path(name).read_bytes())
    except OSError as error:
        raise InputError(f"{name}: the list of recordings cannot be read ({error.strerror})") from error


@contextmanager
def _crew(wishes: Wishes, order: Order, models: Sequence[InstalledModel], settings: WorkerSettings) -> Iterator[Crew]:
    crew = _cluster(wishes.scheduler, order) if wishes.scheduler else _local(wishes.jobs, order, models, settings)
    try:
        yield crew
    finally:
        crew.close()


def _local(jobs: int | None, order: Order, models: Sequence[InstalledModel], settings: WorkerSettings) -> Crew:
    worker_bytes = sum(needed_bytes(model.directory, model.manifest) for model in models)
    valve = MemoryValve.for_machine(worker_bytes, total_bytes() or 4 * worker_bytes)
    return LocalCrew(order, jobs or len(os.sched_getaffinity(0)), valve, available_bytes, settings)


def _cluster(scheduler: str, order: Order) -> Crew:
    from edge_asr.cli.batch_cluster import ClusterCrew

    return ClusterCrew(scheduler, order)


def _renderer(
    model: str, transcript_format: TranscriptFormat
) -> Callable[[Recording, Sequence[Heard]], dict[str, str]]:
    def render(recording: Recording, heard: Sequence[Heard]) -> dict[str, str]:
        return {
            _name(recording, channel.channel, transcript_format): document(
                [
                    RecordingTranscript(
                        file=str(recording.path),
                        channel=channel.channel,
                        model=model,
                        duration_s=channel.audio_s,
                        finals=channel.finals,
                        rtf=channel.rtf,
                        warnings=channel.warnings,
                    )
                ],
                transcript_format,
            )
            for channel in heard
        }

    return render


def _name(recording: Recording, channel: str, transcript_format: TranscriptFormat) -> str:
    return f"{recording.place}{'.' if channel else ''}{channel}{SUFFIXES[transcript_format]}"


def _say(report: Report, wall_s: float, crew: str, *, as_json: bool) -> None:
    for entry in report.bad:
        complain(entry.message)
    click.echo(json_report(report, wall_s, crew) if as_json else sentence(report, wall_s))
