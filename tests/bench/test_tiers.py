"""What a second pass costs and gains, in a sentence."""

import msgspec

from edge_asr.bench.document import Figure, Result
from edge_asr.bench.tiers import skipped_sentences, tier_sentences
from tests.bench.documents import MIB, configuration, milliseconds, ratio

ALONE = Result(
    configuration=configuration(mode="paced"),
    figures={
        "wer": Figure(value=0.714, unit="share"),
        "rtf_cpu_live": ratio(0.05),
        "flush_latency_p50": milliseconds(20.0),
        "memory_peak": Figure(value=80 * MIB, unit="bytes"),
    },
)
BOTH = Result(
    configuration=configuration(mode="paced", second_pass="better"),
    figures={
        "wer": Figure(value=0.046, unit="share"),
        "rtf_cpu_live": ratio(0.13),
        "flush_latency_p50": milliseconds(180.0),
        "memory_peak": Figure(value=200 * MIB, unit="bytes"),
        "second_pass_skipped": Figure(value=0.0, unit="share", note="0 of 40 recordings"),
    },
)


def test_a_second_pass_is_set_beside_its_absence():
    assert list(tier_sentences([ALONE, BOTH])) == [
        "starter-en, then better · paced · 1 thread: word error rate 4.60 % in place of 71.4 %; "
        "CPU seconds per second of audio 0.130 in place of 0.0500; last audio to final 180 ms in place of 20.0 ms; "
        "peak memory 200 MiB in place of 80.0 MiB"
    ]


def test_finals_that_stayed_the_first_models_are_told():
    skipped = Figure(value=0.075, unit="share", note="3 of 40 recordings")
    late = msgspec.structs.replace(BOTH, figures={"second_pass_skipped": skipped})
    (sentence,) = tier_sentences([ALONE, late])
    assert sentence.endswith(": the first model's own finals stood in 3 of 40 recordings")


def test_the_first_models_finals_are_told_also_where_it_was_not_measured_alone():
    skipped = Figure(value=0.5, unit="share", note="2 of 4 recordings")
    late = msgspec.structs.replace(BOTH, figures={"second_pass_skipped": skipped})
    assert list(skipped_sentences([late])) == [
        "starter-en, then better · paced · 1 thread: the first model's own finals stood in 2 of 4 recordings; see "
        "docs/two-pass.md"
    ]
    assert list(skipped_sentences([ALONE, BOTH])) == []


def test_figures_that_one_of_them_lacks_are_left_out():
    few = msgspec.structs.replace(ALONE, figures={"wer": ALONE.figures["wer"], "flush_latency_p50": milliseconds(None)})
    (sentence,) = tier_sentences([few, BOTH])
    assert sentence.endswith(": word error rate 4.60 % in place of 71.4 %")


def test_only_the_same_otherwise_is_compared():
    slower = msgspec.structs.replace(ALONE, configuration=configuration(mode="paced", threads=2))
    assert list(tier_sentences([slower, BOTH])) == []
    assert list(tier_sentences([ALONE])) == []
