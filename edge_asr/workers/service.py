"""A loaded worker at work: messages of the front become commands of the decode thread, its events become messages.

The main thread reads the socket and never decodes; the decode thread decodes and writes. Neither waits for the other.
"""

from __future__ import annotations

import os
import sys
import time
from typing import assert_never

from edge_asr.clock import MonotonicClock, ThreadClock
from edge_asr.engines.base import SegmentDecoder
from edge_asr.engines.embedding_pass import BackgroundEmbedding, Embedder, EmbeddingModel
from edge_asr.engines.second_pass import BackgroundPass, SecondPass
from edge_asr.events import Failed, Final, SessionEnded, TranscriptEvent
from edge_asr.sessions.credit import Credit
from edge_asr.sessions.decode_loop import DecodeLoop
from edge_asr.sessions.gates import WakeOptions
from edge_asr.sessions.loop_figures import Progress
from edge_asr.sessions.runner import Runner
from edge_asr.workers.black_box import BlackBoxWriter
from edge_asr.workers.configuration import unpack
from edge_asr.workers.heap import Heap
from edge_asr.workers.link import Link
from edge_asr.workers.loaded_model import LoadedModel
from edge_asr.workers.messages import (
    CancelSession,
    Configure,
    Consumed,
    FinishSession,
    FlushSession,
    FromWorker,
    Heartbeat,
    OpenSession,
    Ready,
    SessionAudio,
    SessionRecording,
    Settled,
    Shutdown,
    Stats,
    ToWorker,
    TrustSession,
)
from edge_asr.workers.recordings import open_recording
from edge_asr.workers.waiting_room import WaitingRoom

STATS_EVERY_S = 1.0


def serve(link: Link, configure: Configure, model: LoadedModel, ready: Ready, black_box: BlackBoxWriter) -> None:
    """Serve sessions until the front says ``Shutdown``.

    Raises:
        FrontGone: The front went without a word.
    """
    settings = unpack(configure)
    clock = MonotonicClock()

    def wake() -> None:
        service.wake()  # which is there when there is something to wake it for

    def hear_in_background(decoder: SegmentDecoder) -> SecondPass:
        return BackgroundPass(decoder, clock, wake)

    def name_in_background(embedding_model: EmbeddingModel) -> Embedder:
        return BackgroundEmbedding(embedding_model, wake)

    loop = DecodeLoop(
        model.engine,
        settings.endpoint,
        settings.scheduler,
        clock,
        model.understanding(settings, clock, hear_in_background, name_in_background),
        gate=settings.gate,
        wake=WakeOptions(model.open_spotter, settings.wake.listen_ms) if model.open_spotter else None,
        on_native=black_box.write,
        lead_in_s=settings.worker.lead_in_s,
        thread_clock=ThreadClock(),
    )
    service = Service(link, loop, model)
    service.start()
    link.send(ready)
    service.run()
    model.engine.close()


class Service:
    """The reading side of a worker, and the figures it reports while there is work."""

    def __init__(self, link: Link, loop: DecodeLoop, model: LoadedModel) -> None:
        self._link = link
        self._takes_preparing = model.takes_preparing
        self._sessions: set[str] = set()
        self._heap = Heap()
        self._has_news = True
        """Something has happened since the last report, or there was none yet."""
        self._next_report_s = 0.0
        self._unsent: list[FromWorker] = []
        """Of the decode thread."""
        self._runner = Runner(
            loop,
            sink=self._deliver,
            settle=self._settle,
            credit=self._give_credit,
            open_recording=open_recording,
            on_death=_end_process,
            on_said=self._send_all,
        )
        self._waiting: WaitingRoom[ToWorker] = WaitingRoom(model.prepare, self._carry_out, _end_process)

    def wake(self) -> None:
        """Let the decode thread look again; from any thread."""
        self._runner.wake()

    def start(self) -> None:
        """Start the decode thread."""
        self._runner.start()

    def run(self) -> None:
        """Read and dispatch until ``Shutdown``; what was asked before it is still carried out."""
        while True:
            for message in self._link.receive(self._time_to_report_s()):
                if isinstance(message, Shutdown):
                    self._waiting.stop()
                    self._runner.stop()
                    return
                self._dispatch(message)
            self._report_when_due()

    def _dispatch(self, message: ToWorker) -> None:
        match message:
            case OpenSession():
                self._sessions.add(message.session_id)
                self._has_news = True
                if self._takes_preparing(message.options):
                    self._waiting.enter(message.session_id, message.options, message)
                else:
                    self._carry_out(message)
            case CancelSession():
                self._sessions.discard(message.session_id)
                if not self._waiting.leave(message.session_id):
                    self._carry_out(message)
            case Configure() | Shutdown():
                raise ValueError(f"{type(message).__name__} is not for a worker that serves")
            case _:
                if not self._waiting.keep(message.session_id, message):
                    self._carry_out(message)

    def _carry_out(self, message: ToWorker) -> None:
        runner = self._runner
        match message:
            case SessionAudio():
                runner.audio(message.session_id, message.data)
            case OpenSession():
                runner.open(message.session_id, message.options, message.resume)
            case SessionRecording():
                runner.recording(message.session_id, message.path, message.max_duration_s, message.from_s)
            case FlushSession():
                runner.flush(message.session_id)
            case FinishSession():
                runner.finish(message.session_id)
            case TrustSession():
                runner.trust(message.session_id)
            case CancelSession():
                runner.cancel(message.session_id)
            case Configure() | Shutdown():
                raise ValueError(f"{type(message).__name__} is not for a worker that serves")
            case _:
                assert_never(message)

    # On the decode thread.

    def _deliver(self, event: TranscriptEvent) -> None:
        if isinstance(event, (SessionEnded, Failed)):
            self._sessions.discard(event.session_id)
        if isinstance(event, Final):
            raise TypeError("finals are sent with what they settle")
        self._unsent.append(event)

    def _settle(self, session_id: str, progress: Progress, finals: tuple[Final, ...]) -> None:
        self._unsent.append(
            Settled(
                session_id,
                progress.position_s,
                progress.segment,
                progress.dropped_samples,
                progress.flushes,
                finals,
                progress.lead_in,
                progress.front,
            )
        )

    def _give_credit(self, session_id: str, credit: Credit) -> None:
        self._unsent.append(Consumed(session_id, *credit))

    def _report(self, loop: DecodeLoop, reading_s: float) -> None:
        figures = loop.figures()
        self._unsent.append(
            Stats(
                audio_s=figures.audio_s,
                decode_s=figures.decode_s,
                cpu_s=time.process_time(),
                batches=figures.batches,
                batched_streams=figures.batched_streams,
                sessions=len(loop),
                backlog_s=loop.backlog_s,
                rss_bytes=self._heap.resident_bytes(is_idle=not loop),
                segments=figures.segments,
                dropped_samples=figures.dropped_samples,
                replaced_samples=figures.replaced_samples,
                skipped_s=figures.skipped_s,
                stale_partials=figures.stale_partials,
                queue_depth=loop.take_queue_depth(),
                batch_sizes=loop.batch_sizes.counts,
                waits=loop.waits.counts,
                wait_s=loop.waits.total,
                streams_squared=loop.work.streams_squared,
                stream_decode_s=loop.work.stream_decode_s,
                live_streams=loop.work.live_streams,
                live_decode_s=loop.work.live_decode_s,
                late_streams=loop.work.late_streams,
                live_audio_s=figures.live_audio_s,
                around_s=reading_s + time.thread_time() - loop.stepping_ns / 1e9,
                steps=loop.steps.counts,
                second_passes=dict(figures.second_passes.items()),
            )
        )

    def _send_all(self) -> None:
        """One write for all that a step gave: its partial, its final, and the credit for its audio."""
        if self._unsent:
            unsent, self._unsent = self._unsent, []
            self._link.send(*unsent)

    # The clock of the reports.

    def _time_to_report_s(self) -> float | None:
        """``None`` when there is nothing to report: an idle worker must not wake up."""
        if not self._has_news:
            return None
        return max(0.0, self._next_report_s - time.monotonic())

    def _report_when_due(self) -> None:
        if not self._has_news:
            return
        now_s = time.monotonic()
        if now_s >= self._next_report_s:
            self._next_report_s = now_s + STATS_EVERY_S
            self._has_news = bool(self._sessions)
            # This thread says that the process lives, the decode thread that it decodes: a long step keeps only the
            # second one waiting.
            self._link.send(Heartbeat())
            reading_s = time.thread_time()
            self._runner.ask(lambda loop: self._report(loop, reading_s))


def _end_process(_fault: BaseException) -> None:
    """The decode thread is gone, and its reason is in the log: a worker without it must be replaced."""
    sys.stderr.flush()
    os._exit(1)
