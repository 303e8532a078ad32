"""The network: a causal Zipformer2 of 3.65 million parameters with a CTC head, and a transducer head on the side.

The layers are those of the ``zipformer`` wheel. Its package imports k2 and others that a CPU training does not
need, so its module files are loaded beside a stand-in for ``zipformer.utils``.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import sys
import types
from collections.abc import Iterator
from pathlib import Path

import torch
from torch import nn
from transducer import TransducerHead

CHUNK_FRAMES = 16
"""Encoder frames of 20 ms per streaming step: 320 ms."""
LEFT_CONTEXT_FRAMES = 64
VOCABULARY_SIZE = 128


def _load_zipformer() -> tuple[types.ModuleType, types.ModuleType, types.ModuleType]:
    spec = importlib.util.find_spec("zipformer")
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError("the zipformer wheel is missing; see tools/starter/README.md")
    root = Path(spec.submodule_search_locations[0])

    @contextlib.contextmanager
    def torch_autocast(device_type: str = "cuda", **options: object) -> Iterator[None]:
        with torch.amp.autocast(device_type=device_type, **options):
            yield

    for name, path in (("zipformer", root), ("zipformer.modules", root / "modules"), ("zipformer.utils", root)):
        package = types.ModuleType(name)
        package.__path__ = [str(path)]
        sys.modules[name] = package
    sys.modules["zipformer.utils"].torch_autocast = torch_autocast
    return tuple(
        importlib.import_module(f"zipformer.modules.{part}") for part in ("zipformer", "subsampling", "scaling")
    )


_zipformer, _subsampling, _scaling = _load_zipformer()


class Subsampling(nn.Module):
    """Fixed per-bin normalisation, then the wheel's convolutions to 50 frames a second.

    The ConvNeXt block is narrower than the wheel's (kernel 7 x 3, no expansion): a third of the backward time.
    """

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(80))
        self.register_buffer("istd", torch.ones(80))
        self.e = _subsampling.Conv2dSubsampling(80, 96)
        self.e.convnext = _subsampling.ConvNeXt(128, hidden_ratio=1, kernel_size=(7, 3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(batch, frames, 80) to (batch, (frames - 7) // 2, 96)."""
        embed = self.e
        x = ((x - self.mean) * self.istd).unsqueeze(1).to(memory_format=torch.channels_last)
        x = embed.convnext(embed.conv(x))
        x = embed.out(x.transpose(1, 2).flatten(2))
        return embed.dropout(embed.out_norm(x))

    def streaming_forward(
        self, x: torch.Tensor, x_lens: torch.Tensor, cached_left_pad: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        return self.e.streaming_forward((x - self.mean) * self.istd, x_lens, cached_left_pad)

    def get_init_states(self, batch_size: int = 1) -> torch.Tensor:
        return self.e.get_init_states(batch_size)


class StarterModel(nn.Module):
    """Filter banks in, log-probabilities of the tokens out, 25 frames a second.

    Args:
        chunk_frames: The chunk sizes to train with (one is drawn for each batch), or the one to export.
    """

    def __init__(self, chunk_frames: tuple[int, ...] = (CHUNK_FRAMES, 2 * CHUNK_FRAMES)) -> None:
        super().__init__()
        self.encoder_embed = Subsampling()
        self.encoder = _zipformer.Zipformer(
            output_downsampling_factor=2,
            downsampling_factor=(1, 2, 4, 2),
            encoder_dim=(96, 128, 192, 128),
            num_encoder_layers=(1, 1, 2, 1),
            encoder_unmasked_dim=(96, 128, 192, 128),
            query_head_dim=(16, 16, 24, 16),
            pos_head_dim=(4, 4, 4, 4),
            value_head_dim=(12, 12, 12, 12),
            num_heads=(4, 4, 4, 4),
            feedforward_dim=(256, 384, 512, 384),
            cnn_module_kernel=(15, 15, 9, 15),
            pos_dim=32,
            causal=True,
            chunk_size=chunk_frames,
            left_context_frames=(LEFT_CONTEXT_FRAMES,),
        )
        self.ctc_output = nn.Sequential(nn.Dropout(0.1), nn.Linear(192, VOCABULARY_SIZE), nn.LogSoftmax(dim=-1))
        self.transducer = TransducerHead(192, VOCABULARY_SIZE)
        _drop_regularisers(self)

    def forward(self, features: torch.Tensor, frames: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Log-probabilities (batch, frames, tokens) and their lengths; arguments as for :meth:`encode`."""
        encoded, lengths = self.encode(features, frames)
        return self.ctc_output(encoded), lengths

    def encode(self, features: torch.Tensor, frames: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Encoder outputs (batch, frames, 192) and their lengths.

        Args:
            features: (batch, frames, 80), padded.
            frames: True length of each utterance.
        """
        x = self.encoder_embed(features)
        lengths = (frames - 7) // 2
        mask = torch.arange(x.shape[1], device=x.device)[None, :] >= lengths[:, None]
        out, lengths = self.encoder(x.transpose(0, 1), lengths, mask)
        return out.transpose(0, 1), lengths


def _drop_regularisers(module: nn.Module) -> None:
    """Replace Balancer and Whiten by the identity: they pay off in training runs of days only."""
    for name, child in module.named_children():
        if isinstance(child, _scaling.Balancer | _scaling.Whiten):
            setattr(module, name, _scaling.Identity())
        else:
            _drop_regularisers(child)


def onnx_swoosh(module: nn.Module) -> None:
    """Exchange the activations for the ones that the ONNX exporter understands."""
    for name, child in module.named_children():
        if isinstance(child, _scaling.SwooshL):
            setattr(module, name, _scaling.SwooshLOnnx())
        elif isinstance(child, _scaling.SwooshR):
            setattr(module, name, _scaling.SwooshROnnx())
        else:
            onnx_swoosh(child)


def load_weights(model: StarterModel, path: Path) -> None:
    """Read weights from a checkpoint of ``train.py`` (the averaged ones) or from ``resume.pt``."""
    saved = torch.load(path, map_location="cpu", weights_only=True)
    weights = saved.get("average", saved["model"])
    own = {name: value.float() for name, value in weights.items()}
    # Weights from before there was a transducer head leave it as it is.
    missing, unexpected = model.load_state_dict(own, strict=False)
    if unexpected or not all(name.startswith("transducer.") for name in missing):
        raise ValueError(f"{path} holds other weights than this model's: {[*missing, *unexpected][:3]}")
