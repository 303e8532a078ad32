"""Filter banks exactly as sherpa-onnx computes them."""

from __future__ import annotations

import kaldi_native_fbank as knf
import numpy as np
import numpy.typing as npt

Float32Array = npt.NDArray[np.float32]


def filter_banks(sound: Float32Array) -> Float32Array:
    """Log-mel features of 16 kHz samples in [-1, 1]: shape (frames, 80), a frame each 10 ms."""
    options = knf.FbankOptions()
    options.frame_opts.dither = 0.0
    options.frame_opts.snip_edges = False
    options.mel_opts.num_bins = 80
    options.mel_opts.high_freq = -400.0
    bank = knf.OnlineFbank(options)
    bank.accept_waveform(16_000, sound.tolist())
    bank.input_finished()
    return np.stack([bank.get_frame(i) for i in range(bank.num_frames_ready)])
