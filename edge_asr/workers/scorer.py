"""The word error rate of a trial, counted in a process of its own: the front must stay small, and the scorer is not.

``python -m edge_asr.workers.scorer`` reads two lists of texts as JSON and prints the rate.
"""

from __future__ import annotations

import asyncio
import os
import sys
from asyncio.subprocess import PIPE
from collections.abc import Sequence

import msgspec

from edge_asr.errors import LibraryMissing
from edge_asr.workers.command import worker_environment


async def word_error_rate(references: Sequence[str], hypotheses: Sequence[str]) -> float:
    """Errors per word of the references, pooled; English.

    Raises:
        LibraryMissing: The scorer does not run here.
    """
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", __name__),
        env=worker_environment(os.environ, 1),
        stdin=PIPE,
        stdout=PIPE,
        stderr=PIPE,
    )
    try:
        said, complaint = await process.communicate(msgspec.json.encode((references, hypotheses)))
    except BaseException:
        process.kill()
        await process.wait()
        raise
    if process.returncode:
        last_line = complaint.decode(errors="replace").strip().rpartition("\n")[2]
        raise LibraryMissing("the scorer", f"it ended with {last_line!r}; reinstall edge-asr")
    return msgspec.json.decode(said, type=float)


def main() -> None:
    """The process of its own."""
    from edge_asr.scoring import score

    references, hypotheses = msgspec.json.decode(sys.stdin.buffer.read(), type=tuple[list[str], list[str]])
    sys.stdout.write(repr(score(references, hypotheses).error_rate))


if __name__ == "__main__":
    main()
