"""A front process of its own: starts a pool, says the pid of its worker, and waits for its end."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from edge_asr.metrics.exposition import new_registry
from edge_asr.metrics.instruments import Instruments
from edge_asr.workers.pool import Pool
from tests.support.waiting import until
from tests.workers import scripted


async def main(directory: Path, loader: str) -> None:
    pool = Pool(scripted.model(directory), Instruments(new_registry()), loader=f"{scripted.MODULE}:{loader}")
    starting = asyncio.create_task(pool.start())
    await until(lambda: pool.status().state == "ready" or (directory / "loading").exists())
    print(pool.status().worker_pid, flush=True)
    await starting
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
