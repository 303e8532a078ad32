"""Mel features as sherpa-onnx computes them, with the library it uses."""

from __future__ import annotations

from dataclasses import dataclass

import kaldi_native_fbank
import numpy as np

from edge_asr.audio import Float32Array

BINS = 80
FRAME_SHIFT_S = 0.01


@dataclass(frozen=True, slots=True)
class FeatureOptions:
    """Where families differ; the defaults are icefall's."""

    window: str = "povey"
    lowest_hz: float = 20.0
    highest_hz: float = -400.0
    """Below zero: counted from half the sampling rate."""
    are_samples_scaled: bool = False
    """Whether samples are multiplied by 32768 first."""
    removes_offset: bool = True
    """Whether the mean of each frame is taken out first."""
    is_slaney: bool = False
    """Whether mel bins are those of librosa, of equal area."""
    cuts_edges: bool = False
    """Whether frames lie wholly inside the audio; otherwise it is mirrored at its ends."""


FEATURES = {
    "nemo-ctc-streaming": FeatureOptions(
        window="hann", lowest_hz=0.0, highest_hz=8000.0, removes_offset=False, is_slaney=True
    ),
    "wenet-ctc-streaming": FeatureOptions(are_samples_scaled=True),
    "paraformer-streaming": FeatureOptions(window="hamming", highest_hz=0.0, are_samples_scaled=True, cuts_edges=True),
}
"""Family to its options, as sherpa-onnx 2.0.1 sets them; the other streaming families have the defaults."""


def mel_features(samples: Float32Array, sample_rate_hz: int, options: FeatureOptions) -> Float32Array:
    """Log-mel energies, (frames, bins), a frame every 10 ms.

    Args:
        samples: Mono, shape (n,), nominal range [-1, 1].
        sample_rate_hz: Of the samples.
        options: Of the family.
    """
    fbank = kaldi_native_fbank.OnlineFbank(fbank_options(sample_rate_hz, options))
    scaled = samples * np.float32(32768) if options.are_samples_scaled else samples
    fbank.accept_waveform(sample_rate_hz, scaled.tolist())
    fbank.input_finished()
    features = np.empty((fbank.num_frames_ready, BINS), np.float32)
    for index in range(len(features)):
        features[index] = fbank.get_frame(index)
    return features


def fbank_options(sample_rate_hz: int, options: FeatureOptions) -> object:
    """For ``kaldi_native_fbank.OnlineFbank``."""
    fbank = kaldi_native_fbank.FbankOptions()
    fbank.frame_opts.samp_freq = sample_rate_hz
    fbank.frame_opts.dither = 0
    fbank.frame_opts.frame_shift_ms = 1000 * FRAME_SHIFT_S
    fbank.frame_opts.window_type = options.window
    fbank.frame_opts.remove_dc_offset = options.removes_offset
    fbank.frame_opts.snip_edges = options.cuts_edges
    fbank.mel_opts.num_bins = BINS
    fbank.mel_opts.low_freq = options.lowest_hz
    fbank.mel_opts.high_freq = options.highest_hz
    fbank.mel_opts.is_librosa = options.is_slaney
    return fbank
