"""Train on the shards: ``train.py DATA RUN --minutes 300 [--from resume.pt]``.

On processors, two single-threaded processes share each step (one flat gradient, averaged with gloo): on a two-core
machine that is many times faster than one process with two threads. Where there is a GPU one process uses it, in steps
of eight times as much sound, which the processor's cores prepare. ``RUN/checkpoint.pt`` is replaced every few minutes
and continued from when it exists; ``RUN/log.jsonl`` holds the curve. Time during which the processes are stopped does
not count.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import math
import os
import random
import time
from collections.abc import Iterable
from pathlib import Path

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from batches import FRAMES_PER_BATCH, Batch, BatchSource
from model import StarterModel, load_weights
from torch.nn import functional
from torch.utils.data import DataLoader

CHECKPOINT_SECONDS = 120
LONGEST_STEP_S = 10.0
"""A step that took longer was a pause (a stopped process, a busy machine)."""
FRAMES_PER_BATCH_OF_GPU = 8 * FRAMES_PER_BATCH
AVERAGE_DECAY = 0.99
GRADIENT_LIMIT = 5.0


def ctc_loss(log_probs: torch.Tensor, lengths: torch.Tensor, batch: Batch) -> torch.Tensor:
    """Summed over the batch."""
    return functional.ctc_loss(
        log_probs.transpose(0, 1), batch.targets, lengths, batch.target_lengths, reduction="sum", zero_infinity=True
    )


def flat_start_loss(log_probs: torch.Tensor, lengths: torch.Tensor, batch: Batch) -> torch.Tensor:
    """Cross entropy against pieces spread evenly over each utterance: the way past the all-blank plateau."""
    targets = batch.targets.new_zeros(log_probs.shape[:2])
    for row, tokens in enumerate(batch.targets.split(batch.target_lengths.tolist())):
        speech = torch.linspace(0.08, 0.85, len(tokens) + 2, device=targets.device)[1:-1] * lengths[row]
        targets[row, speech.long()] = tokens
    inside = torch.arange(log_probs.shape[1], device=targets.device)[None, :] < lengths[:, None]
    return functional.nll_loss(log_probs[inside], targets[inside], reduction="sum") * 0.3


class Trainer:
    """One process of a run."""

    def __init__(self, args: argparse.Namespace, rank: int) -> None:
        self.args, self.rank, self.device = args, rank, torch.device(args.device)
        torch.manual_seed(args.seed)
        self.model = StarterModel().to(self.device)
        self.average = StarterModel().to(self.device)
        self.step, self.seconds, self.side_sum = 0, 0.0, 0.0
        self.optimiser = torch.optim.AdamW(self.model.parameters(), lr=args.rate, betas=(0.9, 0.98), weight_decay=0.01)
        if args.start:
            load_weights(self.model, args.start)
        if self._checkpoint.exists():
            self._resume()
        else:
            self.average.load_state_dict(self.model.state_dict())
        self.model.train()
        seed = args.seed * 1000 + rank + 7 * self.step
        random.seed(seed)
        self.batches = iter(self._batches(seed))

    def _batches(self, seed: int) -> Iterable[Batch]:
        source = BatchSource(self.args.data, self.args.spelling, seed, self.args.strength, self.args.frames)
        if self.device.type == "cpu":
            return source
        # One core could not feed it.
        return DataLoader(source, batch_size=None, num_workers=max(1, (os.cpu_count() or 2) - 1), prefetch_factor=8)

    @property
    def _checkpoint(self) -> Path:
        return self.args.run / "checkpoint.pt"

    def _resume(self) -> None:
        saved = torch.load(self._checkpoint, map_location=self.device, weights_only=True)
        self.model.load_state_dict(saved["model"])
        self.average.load_state_dict(saved["average"])
        self.optimiser.load_state_dict(saved["optimiser"])
        self.step, self.seconds = saved["step"], saved["seconds"]

    def save(self) -> None:
        """Replace the checkpoint in one step."""
        state = {
            "model": self.model.state_dict(),
            "average": self.average.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "step": self.step,
            "seconds": self.seconds,
        }
        unfinished = self._checkpoint.with_suffix(".part")
        torch.save(state, unfinished)
        unfinished.replace(self._checkpoint)

    def rate(self) -> float:
        """Linear warm-up over 40 steps, then half a cosine down to a fiftieth."""
        progress = min(1.0, self.seconds / (60 * self.args.minutes))
        cosine = 0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * progress))
        return self.args.rate * min(1.0, (self.step + 1) / 40) * cosine

    def run(self) -> None:
        """Until the time is used up."""
        last_save, loss_sum, token_sum = time.monotonic(), 0.0, 0.0
        while self.seconds < 60 * self.args.minutes:
            began = time.monotonic()
            loss, tokens, norm = self._one_step(next(self.batches).to(self.device))
            loss_sum, token_sum = loss_sum + loss, token_sum + tokens
            self.seconds += self._agree(min(LONGEST_STEP_S, time.monotonic() - began))
            if self.rank == 0 and self.step % 25 == 0:
                self._log(loss_sum / max(1.0, token_sum), norm)
                loss_sum = token_sum = 0.0
            if self.rank == 0 and time.monotonic() - last_save > CHECKPOINT_SECONDS:
                self.save()
                last_save = time.monotonic()
        if self.rank == 0:
            self.save()

    def _one_step(self, batch: Batch) -> tuple[float, float, float]:
        encoded, lengths = self.model.encode(batch.features, batch.frames)
        log_probs = self.model.ctc_output(encoded)
        loss = ctc_loss(log_probs, lengths, batch)
        guide = max(0.0, min(1.0, 2 - 2 * self.step / self.args.flat_start)) if self.args.flat_start else 0.0
        if guide:
            loss = (1 - 0.7 * guide) * loss + guide * flat_start_loss(log_probs, lengths, batch)
        # The head learns from the encoder as it is and does not pull at it: the CTC model stays what it would be.
        side = self.model.transducer.loss(encoded.detach(), lengths, batch.targets, batch.target_lengths)
        self.optimiser.zero_grad(set_to_none=False)
        (loss + side).backward()
        self.side_sum += side.item() / max(1.0, float(batch.target_lengths.sum()))
        total, tokens = self._share_gradient(loss.item(), float(batch.target_lengths.sum()))
        norm = float(torch.nn.utils.clip_grad_norm_(self.model.parameters(), GRADIENT_LIMIT))
        for group in self.optimiser.param_groups:
            group["lr"] = self.rate()
        if math.isfinite(norm):
            self.optimiser.step()
        self.step += 1
        self._move_average()
        return total, tokens, norm

    def _share_gradient(self, loss: float, tokens: float) -> tuple[float, float]:
        """Leave the gradient of the mean loss per token, over all processes, in the parameters."""
        owners = [p for p in self.model.parameters() if p.requires_grad]
        parts = [(p.grad if p.grad is not None else torch.zeros_like(p)).flatten() for p in owners]
        flat = torch.cat([*parts, torch.tensor([loss, tokens], device=self.device)])
        if self.args.processes > 1:
            dist.all_reduce(flat)
        total, count = float(flat[-2]), float(flat[-1])
        flat /= max(1.0, count)
        place = 0
        for p in owners:
            p.grad = flat[place : place + p.numel()].view_as(p).clone()
            place += p.numel()
        return total, count

    def _agree(self, seconds: float) -> float:
        if self.args.processes == 1:
            return seconds
        shared = torch.tensor([seconds])
        dist.all_reduce(shared, dist.ReduceOp.MAX)
        return float(shared)

    def _move_average(self) -> None:
        with torch.no_grad():
            for kept, new in zip(self.average.parameters(), self.model.parameters(), strict=True):
                kept.lerp_(new, 1 - AVERAGE_DECAY)

    def _log(self, loss: float, norm: float) -> None:
        line = {
            "step": self.step,
            "minutes": round(self.seconds / 60, 2),
            "loss_per_token": round(loss, 4),
            "transducer_loss_per_token": round(self.side_sum / 25, 4),
            "gradient_norm": round(norm, 3),
            "rate": round(self.rate(), 6),
        }
        self.side_sum = 0.0
        with (self.args.run / "log.jsonl").open("a", encoding="ascii") as log:
            log.write(json.dumps(line) + "\n")


def work(rank: int, args: argparse.Namespace) -> None:
    """Body of one process."""
    torch.set_num_threads(1)
    if args.processes == 1:
        Trainer(args, rank).run()
        return
    rendezvous = f"file://{(args.run / 'rendezvous').absolute()}"
    dist.init_process_group(
        "gloo", init_method=rendezvous, rank=rank, world_size=args.processes, timeout=dt.timedelta(hours=12)
    )
    Trainer(args, rank).run()
    dist.destroy_process_group()


def main() -> None:
    here = Path(__file__).parent
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("run", type=Path)
    parser.add_argument("--minutes", type=float, required=True, help="training time; the schedule ends with it")
    parser.add_argument("--from", dest="start", type=Path, help="weights to begin with (resume.pt, a checkpoint)")
    parser.add_argument("--rate", type=float, default=1.5e-3)
    parser.add_argument("--strength", type=float, default=0.6, help="of the augmentation, 0 to 1")
    parser.add_argument("--flat-start", type=int, default=0, help="steps of guidance; 1000 when training from nothing")
    parser.add_argument("--spelling", type=Path, default=here.parents[1] / "models/starter-en/bpe.model")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--processes", type=int, help="two on processors, one on a GPU")
    parser.add_argument("--frames", type=int, help="of 10 ms in a step of one process")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    is_on_cpu = args.device == "cpu"
    args.processes = args.processes or (2 if is_on_cpu else 1)
    args.frames = args.frames or (FRAMES_PER_BATCH if is_on_cpu else FRAMES_PER_BATCH_OF_GPU)
    args.run.mkdir(parents=True, exist_ok=True)
    (args.run / "rendezvous").unlink(missing_ok=True)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    mp.spawn(work, args=(args,), nprocs=args.processes)


if __name__ == "__main__":
    main()
