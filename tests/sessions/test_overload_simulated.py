"""Twice as many clients as one worker can carry, all talking without a pause, against the policy; in simulated time."""

from __future__ import annotations

import heapq
import math
import random

import pytest

from edge_asr.errors import Overloaded
from edge_asr.sessions.admission import Admission, Candidate
from edge_asr.sessions.heat import Heat
from edge_asr.sessions.load import Report, WorkerLoad
from edge_asr.sessions.step_cost import StepCost, StepSums
from edge_asr.settings import AdmissionSettings
from tests.sessions.step_costs import BATCHES_SAVE_MUCH, BATCHES_SAVE_NOTHING, CHUNK_S, SLOW_BOARD, TWO_CORES, p99

SECONDS = 240.0
TALK_S = 15.0
ON_TICK, ON_CLIENT, ON_CHUNK = range(3)
"""What happens first of what happens at once."""


class World:
    """One worker, its clients and what became of them.

    Args:
        cost: Of a step.
        max_batch: Streams in one.
        clients: Who want to talk all the time.
        heats_at_s: From then on every step takes half as long again, and the machine says so.
        around_s: What the worker does for each stream of a step before the next one.
    """

    def __init__(
        self, cost: StepCost, max_batch: int, clients: int, heats_at_s: float = math.inf, around_s: float = 0.0
    ) -> None:
        self.latencies: list[float] = []
        self.hints_s: list[float] = []
        self.talking: list[int] = []
        """Sessions open, second by second."""
        self._cost, self._max_batch, self._heats_at_s, self._around_s = cost, max_batch, heats_at_s, around_s
        self._load = WorkerLoad(AdmissionSettings(), CHUNK_S, max_batch, cores=1)
        self._load.supposed_step_s = cost.step_s + cost.stream_s + around_s / 2  # the engine's part of it is seen early
        self._policy = Admission(AdmissionSettings(), max_sessions=1000)
        self._opened_s: dict[int, float] = {}
        self._waiting: list[tuple[float, int]] = []
        self._sums, self._late = StepSums(), 0
        draw = random.Random(1)
        self._events = [(draw.uniform(0, 1), ON_CLIENT, client) for client in range(clients)]
        self._events.append((1.0, ON_TICK, 0))
        heapq.heapify(self._events)

    def run(self) -> None:
        """To the end of the simulated time."""
        happenings = {ON_TICK: self._tick, ON_CLIENT: self._come, ON_CHUNK: self._bring}
        now_s = 0.0
        while now_s < SECONDS:
            if not self._waiting:
                now_s = max(now_s, self._events[0][0])
            while self._events[0][0] <= now_s:
                at_s, kind, client = heapq.heappop(self._events)
                happenings[kind](at_s, client)
            now_s = self._decode(now_s)

    def _tick(self, at_s: float, _: int) -> None:
        """The worker reports, and the sensors are read."""
        live = self._sums.streams
        self._load.report(
            Report(
                seconds=1.0,
                steps=self._sums,
                live_steps=live,
                audio_s=live * CHUNK_S,
                live_audio_s=live * CHUNK_S,
                live_decode_s=self._sums.seconds,
                live_sessions=len(self._opened_s),
                late_steps=self._late,
            )
        )
        self._policy.heat = Heat(frequency_share=2 / 3 if at_s >= self._heats_at_s else 1.0)
        self._sums, self._late = StepSums(), 0
        self.talking.append(len(self._opened_s))
        heapq.heappush(self._events, (at_s + 1.0, ON_TICK, 0))

    def _come(self, at_s: float, client: int) -> None:
        """A client wants to talk: it begins, or comes back when it was told to."""
        candidate = Candidate(self._load, tuple(round(since_s * 1e9) for since_s in self._opened_s.values()))
        try:
            self._policy.admit({"0": candidate}, len(self._opened_s), is_batch=False, now_ns=round(at_s * 1e9))
        except Overloaded as refusal:
            self.hints_s.append(refusal.retry_after_s or 0.0)
            heapq.heappush(self._events, (at_s + self.hints_s[-1], ON_CLIENT, client))
        else:
            self._opened_s[client] = at_s
            heapq.heappush(self._events, (at_s + CHUNK_S, ON_CHUNK, client))

    def _bring(self, at_s: float, client: int) -> None:
        """A chunk is there; the last one ends the session, and the client comes again."""
        heapq.heappush(self._waiting, (at_s, client))
        if at_s - self._opened_s[client] < TALK_S:
            heapq.heappush(self._events, (at_s + CHUNK_S, ON_CHUNK, client))
        else:
            self._policy.session_ended(round(at_s * 1e9), at_s - self._opened_s.pop(client))
            heapq.heappush(self._events, (at_s + 0.1, ON_CLIENT, client))

    def _decode(self, now_s: float) -> float:
        """One step, the earliest first; when it ends."""
        batch = [heapq.heappop(self._waiting) for _ in range(min(self._max_batch, len(self._waiting)))]
        if not batch:
            return now_s
        size, slower = len(batch), 1.5 if now_s >= self._heats_at_s else 1.0
        seconds = slower * (self._cost.step_s + size * self._cost.stream_s)
        around_s = slower * size * self._around_s
        self._sums += StepSums(1, size, size * size, seconds, size * seconds, around_s)
        waits = [now_s + seconds - at_s for at_s, _ in batch]
        self._late += sum(wait_s > CHUNK_S for wait_s in waits)
        self.latencies += waits
        return now_s + seconds + around_s


COSTS = [BATCHES_SAVE_NOTHING, TWO_CORES, BATCHES_SAVE_MUCH, SLOW_BOARD]


@pytest.mark.parametrize(("cost", "max_batch"), COSTS)
def test_accepted_sessions_are_in_time_and_the_worker_is_used(cost: StepCost, max_batch: int) -> None:
    capacity = cost.streams(CHUNK_S, max_batch, max_load=0.9)
    world = World(cost, max_batch, clients=round(2 * capacity))
    world.run()
    assert p99(world.latencies) < CHUNK_S
    assert min(world.hints_s) >= 1.0
    second_half = world.talking[len(world.talking) // 2 :]
    assert sum(second_half) / len(second_half) > 0.7 * capacity


def test_a_small_model_leaves_room_for_what_the_worker_does_around_its_steps() -> None:
    """The starter model, as it was seen on two cores: as much as half of a step's time goes by between the steps."""
    around_s, cost = 0.003, StepCost(0.002, 0.0055)
    capacity = StepCost(cost.step_s, cost.stream_s + around_s).streams(CHUNK_S, 16, max_load=0.9)
    world = World(cost, 16, clients=round(2 * capacity), around_s=around_s)
    world.run()
    assert p99(world.latencies) < CHUNK_S
    second_half = world.talking[len(world.talking) // 2 :]
    assert sum(second_half) / len(second_half) > 0.7 * capacity


@pytest.mark.parametrize(("cost", "max_batch"), COSTS)
def test_a_machine_that_slows_down_keeps_up_with_those_it_accepts(cost: StepCost, max_batch: int) -> None:
    """Who talks when the clock falls is late for a moment; sessions are short, and fewer come in their place."""
    capacity = cost.streams(CHUNK_S, max_batch, max_load=0.9)
    world = World(cost, max_batch, clients=round(2 * capacity), heats_at_s=SECONDS / 2)
    world.run()
    last_minute = world.latencies[-len(world.latencies) // 6 :]
    assert p99(last_minute) < CHUNK_S
    assert max(world.talking[-30:]) < capacity
