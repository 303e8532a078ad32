"""Average two sets of weights: ``mix.py A B SHARE OUT`` writes (1 - SHARE) x A + SHARE x B.

Between a model and the one it was warm-started from, the mean often hears better than either: the fine-tuned one has
new words, the older one remembers voices that the new data held too few of.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch


def weights(path: Path) -> dict[str, torch.Tensor]:
    saved = torch.load(path, map_location="cpu", weights_only=True)
    return {name: value.float() for name, value in saved.get("average", saved["model"]).items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("first", type=Path)
    parser.add_argument("second", type=Path)
    parser.add_argument("share", type=float, help="of the second, 0 to 1")
    parser.add_argument("out", type=Path)
    args = parser.parse_args()
    first, second = weights(args.first), weights(args.second)
    first = {name: first.get(name, value) for name, value in second.items()}  # a head that is new is taken as it is
    torch.save({"model": {name: torch.lerp(first[name], second[name], args.share) for name in first}}, args.out)


if __name__ == "__main__":
    main()
