"""A transducer head for the same encoder: a stateless decoder and a joiner, as most published models have them.

The shapes are those of icefall's zipformer recipe, which sherpa-onnx loads: the decoder sees the last two tokens, the
joiner adds its projection to the encoder's and gives the scores of all tokens.
"""

from __future__ import annotations

import torch
from torch import nn

CONTEXT_SIZE = 2
JOINER_DIM = 192


class TransducerHead(nn.Module):
    """Decoder and joiner.

    Args:
        encoder_dim: Of the encoder's output.
        vocabulary_size: Tokens, the blank (0) among them.
    """

    def __init__(self, encoder_dim: int, vocabulary_size: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, JOINER_DIM)
        self.convolution = nn.Conv1d(JOINER_DIM, JOINER_DIM, CONTEXT_SIZE, groups=JOINER_DIM // 4, bias=False)
        self.decoder_projection = nn.Linear(JOINER_DIM, JOINER_DIM)
        self.encoder_projection = nn.Linear(encoder_dim, JOINER_DIM)
        self.output = nn.Linear(JOINER_DIM, vocabulary_size)

    def predict(self, tokens: torch.Tensor) -> torch.Tensor:
        """Contexts (batch, positions + CONTEXT_SIZE - 1) to decoder outputs (batch, positions, JOINER_DIM)."""
        embedded = self.embedding(tokens).transpose(1, 2)
        return self.decoder_projection(torch.relu(self.convolution(embedded)).transpose(1, 2))

    def join(self, encoder: torch.Tensor, decoder: torch.Tensor) -> torch.Tensor:
        """Projected encoder and decoder outputs, broadcast against each other, to scores of all tokens."""
        return self.output(torch.tanh(encoder + decoder))

    def loss(
        self, encoded: torch.Tensor, lengths: torch.Tensor, targets: torch.Tensor, target_lengths: torch.Tensor
    ) -> torch.Tensor:
        """Transducer loss, summed over the batch.

        Args:
            encoded: Encoder outputs (batch, frames, encoder_dim).
            lengths: Frames of each utterance.
            targets: All tokens, one utterance after the other.
            target_lengths: Tokens of each utterance.
        """
        rows = nn.utils.rnn.pad_sequence(targets.split(target_lengths.tolist()), batch_first=True)
        contexts = nn.functional.pad(rows, (CONTEXT_SIZE, 0))
        scores = self.join(self.encoder_projection(encoded)[:, :, None], self.predict(contexts)[:, None])
        return one_token_a_frame_loss(scores.log_softmax(-1), lengths, rows, target_lengths)


def one_token_a_frame_loss(
    log_probs: torch.Tensor, lengths: torch.Tensor, targets: torch.Tensor, target_lengths: torch.Tensor
) -> torch.Tensor:
    """Negative log-likelihood of the targets, summed, where each frame gives at most one token.

    That is how sherpa-onnx decodes (the "modified" transducer of Tripathi et al. 2019, Monotonic recurrent neural
    network transducer): both the blank and a token move on to the next frame.

    Args:
        log_probs: (batch, frames, longest target + 1, tokens).
        lengths: Frames of each utterance; at least as many as its tokens.
        targets: (batch, longest target), padded.
        target_lengths: Tokens of each utterance.
    """
    batch, frames, positions, _ = log_probs.shape
    blank = log_probs[..., 0]
    index = targets[:, None, :, None].expand(batch, frames, positions - 1, 1)
    token = log_probs[:, :, :-1].gather(-1, index).squeeze(-1)
    never = log_probs.new_full((batch, 1), -1e9)
    alpha = torch.cat([torch.zeros_like(never), never.expand(batch, positions - 1)], dim=1)
    last = log_probs.new_zeros(batch)
    for frame in range(frames):
        stayed = alpha + blank[:, frame]
        moved = torch.cat([never, alpha[:, :-1] + token[:, frame]], dim=1)
        alpha = torch.logaddexp(stayed, moved)
        ends = lengths == frame + 1
        reached = alpha.gather(1, target_lengths[:, None]).squeeze(1)
        last = torch.where(ends, reached, last)
    possible = last > -1e8
    return -(last * possible).sum()


class ExportedDecoder(nn.Module):
    """``y`` (N, CONTEXT_SIZE) to ``decoder_out`` (N, JOINER_DIM)."""

    def __init__(self, head: TransducerHead) -> None:
        super().__init__()
        self.head = head

    def forward(self, y: torch.Tensor) -> torch.Tensor:
        return self.head.predict(y).squeeze(1)


class ExportedJoiner(nn.Module):
    """``encoder_out`` and ``decoder_out`` (N, JOINER_DIM) to ``logit`` (N, tokens)."""

    def __init__(self, head: TransducerHead) -> None:
        super().__init__()
        self.head = head

    def forward(self, encoder_out: torch.Tensor, decoder_out: torch.Tensor) -> torch.Tensor:
        return self.head.join(encoder_out, decoder_out)
