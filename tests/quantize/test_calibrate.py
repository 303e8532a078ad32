from pathlib import Path

import numpy as np
import soundfile

from edge_asr.quantize.calibrate import calibration_audio, choose_recordings
from edge_asr.quantize.evaluation_set import Recording, look_at
from edge_asr.workload import Clip


def recording(number: int, speaker: str = "", audio_s: float = 10.0, sha256: str = "") -> Recording:
    return Recording(Clip(f"{number}", Path(f"{number}"), speaker=speaker), sha256 or str(number), audio_s, 0)


def test_voices_take_turns_however_many_recordings_each_has():
    many = [recording(number, "ann") for number in range(50)]
    chosen = choose_recordings([*many, recording(50, "bob"), recording(51, "bob")], seed=0, most_audio_s=40.0)
    assert sorted(one.clip.speaker for one in chosen) == ["ann", "ann", "bob", "bob"]


def test_the_draw_ends_when_it_is_long_enough():
    assert len(choose_recordings([recording(number) for number in range(20)], seed=0, most_audio_s=35.0)) == 4


def test_few_recordings_are_all_taken_once():
    chosen = choose_recordings([recording(0), recording(1), recording(2, sha256="1")], seed=0)
    assert sorted(one.sha256 for one in chosen) == ["0", "1"]


def test_another_seed_draws_others():
    pool = [recording(number) for number in range(100)]
    assert choose_recordings(pool, seed=0) == choose_recordings(pool, seed=0)
    assert choose_recordings(pool, seed=0) != choose_recordings(pool, seed=1)


def test_whole_recordings_come_at_the_rate_of_the_model_with_silence_and_noise_after_them(tmp_path: Path):
    soundfile.write(tmp_path / "a.wav", np.full(8000, 0.25, np.float32), 8000, subtype="PCM_16")
    (looked_at,) = look_at([Clip("a.wav", tmp_path / "a.wav")], "en")
    spoken, silence, noise = calibration_audio([looked_at], 16_000, seed=0)
    assert len(spoken) == 16_000 + 2 * 4800
    assert np.all(spoken[:4800] == 0.0)
    np.testing.assert_allclose(spoken[10_000:15_000], 0.25, atol=0.01)
    assert not silence.any()
    assert abs(np.sqrt(np.mean(noise**2)) - 0.01) < 0.0005
