from __future__ import annotations

import msgspec

from edge_asr.bench.tune import Setting, Trial, Tuning
from edge_asr.cli.tune_job import profile_entry

CHOSEN = Setting(threads=1, cpus=(2, 3))
OTHER = Setting(threads=2, cpus=(2, 3))


def trial(number: int, setting: Setting, cost: float | None) -> Trial:
    return Trial(round=number, setting=setting, cpu_per_audio=cost, meets_gates=True)


def outcome(*trials: Trial) -> Tuning:
    return Tuning(
        chosen=CHOSEN,
        default=OTHER,
        meets_gates=True,
        is_default=False,
        ratio=None,
        ratio_low=None,
        ratio_high=None,
        trials=trials,
        results=(),
        is_valid=True,
    )


def test_the_profile_tells_what_the_chosen_setting_carries_and_costs() -> None:
    entry = profile_entry(outcome(trial(0, CHOSEN, 0.2), trial(1, OTHER, 0.5), trial(1, CHOSEN, 0.1234567)), streams=4)
    assert (entry.threads, entry.cpus, entry.streams, entry.cpu_per_audio) == (1, (2, 3), 4, 0.12346)


def test_a_cost_that_is_not_known_is_left_out() -> None:
    assert profile_entry(outcome(trial(0, CHOSEN, None)), streams=1).cpu_per_audio == 0.0


def test_another_provider_that_won_goes_into_the_profile_and_the_configured_one_does_not() -> None:
    on_npu = msgspec.structs.replace(CHOSEN, provider="qnn")
    won = msgspec.structs.replace(outcome(trial(0, on_npu, 0.1)), chosen=on_npu)
    assert profile_entry(won, streams=1).provider == "qnn"
    assert profile_entry(outcome(trial(0, CHOSEN, 0.1)), streams=1).provider == ""
