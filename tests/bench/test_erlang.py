"""Blocking probabilities against published tables, each other, and what must always hold."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edge_asr.bench.erlang import burst_blocking, erlang_b, even_blocking, least

LOADS = st.floats(0.01, 200)
SERVERS = st.integers(1, 100)


@pytest.mark.parametrize(
    ("servers", "blocking", "offered"),
    [
        (1, 0.01, 0.0101), (5, 0.01, 1.361), (10, 0.01, 4.461), (20, 0.01, 12.03), (50, 0.01, 37.90),
        (100, 0.01, 84.06), (10, 0.001, 3.092), (10, 0.05, 6.216), (20, 0.02, 13.18),
    ],
)  # fmt: skip
def test_erlang_b_is_that_of_the_published_table(servers: int, blocking: float, offered: float) -> None:
    assert erlang_b(offered, servers) == pytest.approx(blocking, rel=0.003)


@given(LOADS, st.integers(0, 40))
def test_erlang_b_is_the_quotient_of_its_definition(offered: float, servers: int) -> None:
    terms = [offered**count / math.factorial(count) for count in range(servers + 1)]
    assert erlang_b(offered, servers) == pytest.approx(terms[-1] / math.fsum(terms))


def test_great_numbers_neither_overflow_nor_vanish() -> None:
    assert erlang_b(10_000, 10_000) == pytest.approx(math.sqrt(2 / (math.pi * 10_000)), rel=0.01)  # Stirling
    assert erlang_b(1, 500) == 0
    assert 0 < even_blocking(10_000, 10_000) < erlang_b(10_000, 10_000)


def test_even_arrivals_at_one_server_lose_who_comes_before_it_is_free() -> None:
    # The interval is 1 / A mean durations long; the call in service outlasts it with probability e^(-1/A).
    assert even_blocking(2.0, 1) == pytest.approx(math.exp(-1 / 2.0))


def test_bursts_at_one_server_lose_all_but_one_call_each() -> None:
    # Bursts of mean m find the server busy with probability (A/m) / (1 + A/m); a free one takes one call of m.
    offered, size = 0.5, 4.0
    accepted = 1 / (1 + offered / size) / size
    assert burst_blocking(offered, 1, size) == pytest.approx(1 - accepted)


@given(LOADS, SERVERS)
def test_bursts_of_single_calls_are_independent_calls(offered: float, servers: int) -> None:
    assert burst_blocking(offered, servers, 1) == pytest.approx(erlang_b(offered, servers), rel=1e-9, abs=1e-300)


@given(LOADS, SERVERS, st.floats(1, 10))
def test_even_calls_lose_less_and_bursts_more_than_independent_ones(
    offered: float, servers: int, burst_size: float
) -> None:
    independent = erlang_b(offered, servers)
    assert 0 <= even_blocking(offered, servers) <= independent * (1 + 1e-9)
    assert independent * (1 - 1e-9) <= burst_blocking(offered, servers, burst_size) <= 1


@given(LOADS, SERVERS, st.floats(1, 10))
def test_more_servers_lose_less(offered: float, servers: int, burst_size: float) -> None:
    assert erlang_b(offered, servers + 1) <= erlang_b(offered, servers)
    assert even_blocking(offered, servers + 1) <= even_blocking(offered, servers) * (1 + 1e-9)
    assert burst_blocking(offered, servers + 1, burst_size) <= burst_blocking(offered, servers, burst_size)


@given(LOADS, SERVERS)
def test_more_load_loses_more(offered: float, servers: int) -> None:
    assert erlang_b(offered * 1.1, servers) >= erlang_b(offered, servers)


@given(st.integers(1, 100_000))
def test_least_finds_the_first_that_is_sufficient(threshold: int) -> None:
    assert least(lambda number: number >= threshold) == threshold
