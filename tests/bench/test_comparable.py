"""Which results of two benches belong together, and in what the benches differ."""

from __future__ import annotations

import msgspec
import pytest

from edge_asr.bench.comparable import differences, matched, shared_clips, why_nothing_matches
from edge_asr.bench.document import Result
from tests.bench.documents import configuration, document
from tests.bench.measurements import CLIPS, bench_of


def results(*settings: dict[str, object]) -> list[Result]:
    return [Result(configuration=configuration(**setting)) for setting in settings]


def test_equal_configurations_are_matched_in_the_order_of_the_first() -> None:
    first = results({"threads": 1}, {"threads": 2})
    second = results({"threads": 2}, {"threads": 1})
    pairs, left, right = matched(first, second)
    assert pairs == [(first[0], second[1]), (first[1], second[0])]
    assert left == right == []


@pytest.mark.parametrize(
    "changed",
    [{"threads": 2}, {"cpus": (0,), "threads": 2}, {"provider": "xnnpack"}, {"door": "daemon"}, {"model": "other"}],
)
def test_what_was_varied_between_two_benches_is_compared(changed: dict[str, object]) -> None:
    first, second = results({"streams": 4}), results({"streams": 4, **changed})
    assert matched(first, second)[0] == [(first[0], second[0])]


def test_tiers_are_compared_with_the_same_tiers() -> None:
    first = results({"threads": 1}, {"threads": 1, "second_pass": "better"})
    second = results({"threads": 2}, {"threads": 2, "second_pass": "better"})
    assert matched(first, second) == (list(zip(first, second, strict=True)), [], [])


def test_what_a_second_pass_changes_is_compared() -> None:
    first, second = results({"threads": 1}), results({"threads": 1, "second_pass": "better"})
    assert matched(first, second)[0] == [(first[0], second[0])]


def test_another_number_of_streams_is_another_question() -> None:
    first, second = results({"streams": 1}), results({"streams": 4})
    assert matched(first, second) == ([], first, second)


def test_what_has_several_partners_has_none() -> None:
    first, second = results({"threads": 1}), results({"threads": 2}, {"threads": 4})
    assert matched(first, second) == ([], first, second)


def test_a_daemon_is_compared_with_the_library_of_its_own_threads() -> None:
    first, second = results({"threads": 1}, {"threads": 2}), results({"threads": 2, "door": "daemon"})
    assert matched(first, second) == ([(first[1], second[0])], [first[0]], [])


def test_why_nothing_matches_names_what_is_not_the_same() -> None:
    first = results({"streams": 1}, {"streams": 2})
    assert why_nothing_matches(first, results({"streams": 4})) == "streams 1, 2 and 4"
    other = results({"model": "other", "mode": "paced"})
    assert why_nothing_matches(first, other) == "model starter-en and other; mode throughput and paced"
    assert (
        why_nothing_matches(first, []) == "model starter-en and none; mode throughput and none; streams 1, 2 and none"
    )


def test_an_exact_partner_goes_before_a_similar_one() -> None:
    first, second = results({"threads": 1}), results({"threads": 2}, {"threads": 1})
    pairs, _, right = matched(first, second)
    assert pairs == [(first[0], second[1])]
    assert right == [second[0]]


def test_the_same_bench_differs_in_nothing() -> None:
    assert list(differences(bench_of(), bench_of())) == []


def test_differences_are_said() -> None:
    other = bench_of(
        board={"model": "Raspberry Pi 5"}, versions={"edge-asr": "0.2.0", "kernel": "6.6.51"}, clips=CLIPS[:2]
    )
    said = list(differences(bench_of(), other))
    assert said == [
        "different board: Raspberry Pi 4 Model B Rev 1.4 and Raspberry Pi 5",
        "different audio: 4 and 2 recordings, 2 of them in both and compared",
        "different edge-asr: 0.1.0 and 0.2.0",
    ]


def test_another_governor_is_said_of_the_same_board() -> None:
    first, second = (
        bench_of(board={"model": "x", "governors": ["a"]}),
        bench_of(board={"model": "x", "governors": ["b"]}),
    )
    assert list(differences(first, second)) == ["the same board, with different governors"]


def test_other_models_and_other_files_of_the_same_model_are_said() -> None:
    bench = bench_of()
    renamed = msgspec.structs.replace(bench.models[0], name="other")
    assert "different models: starter-en and other" in differences(bench, bench_of(models=(renamed,)))
    quantized = msgspec.structs.replace(bench.models[0], files={"encoder": "f" * 64}, version="2")
    assert "starter-en has different files: version 1 and 2" in differences(bench, bench_of(models=(quantized,)))


def test_of_a_daemon_elsewhere_the_files_of_its_model_are_not_known() -> None:
    said = list(differences(bench_of(), bench_of(models=())))
    assert said == [
        "the files of the model of the second bench are not known: it was measured through a daemon elsewhere"
    ]


def test_recordings_of_the_same_name_and_other_content_are_not_shared() -> None:
    assert shared_clips(bench_of(), bench_of()) == frozenset(CLIPS)
    assert shared_clips(bench_of(clips=("one",)), document()) == frozenset()
