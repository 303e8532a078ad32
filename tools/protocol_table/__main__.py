"""``tools/protocols``: runs the daemon and every client program against it; leaves with 1 when a row is not green."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from tools.protocol_table.cycles import drop_connections
from tools.protocol_table.daemon import Daemon, running
from tools.protocol_table.program import Program
from tools.protocol_table.programs import PROGRAMS
from tools.protocol_table.recording import make_recording
from tools.protocol_table.table import judge, markdown, with_table
from tools.protocol_table.turns import measure

MODEL = Path(__file__).parents[2] / "models" / "starter-en-transducer"
"""Its text only ever grows, so that every protocol with partials can send them."""

DOCUMENT = Path(__file__).parents[2] / "docs" / "protocols.md"

WYOMING_MAY_TAKE = 1.2
"""Times the native protocol's, at the 95th percentile."""


async def everything(daemon: Daemon, args: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Rows, and what else was asked for."""
    recording = make_recording(folder)
    rows = []
    programs = [program for program in PROGRAMS if args.only in ("", program.protocol)]
    for program in programs if args.rows else ():
        row = await judge(program, daemon, recording)
        rows.append(row)
        print(f"{'ok  ' if row.is_ok else 'FAIL'} {row.protocol}: {row.client} {row.note}", file=sys.stderr)
    document: dict[str, Any] = {"rows": [row.document() for row in rows]}
    if rows:
        print(markdown(rows), end="")
    if args.docs and rows and not args.only:
        DOCUMENT.write_text(with_table(DOCUMENT.read_text(encoding="utf-8"), markdown(rows)), encoding="utf-8")
    if args.cycles:
        document["cycles"] = []
        for program in _one_per_protocol(programs):
            growth = await drop_connections(program, daemon, recording, args.cycles)
            print(growth.sentence())
            document["cycles"].append(growth.document())
    if args.turns:
        native, wyoming = await measure(daemon, recording, args.turns)
        ratio = wyoming.percentile_s(0.95) / native.percentile_s(0.95)
        print(
            f"end of speech to transcript, p95 of {args.turns}: native {native.percentile_s(0.95) * 1000:.0f} ms, "
            f"Wyoming {wyoming.percentile_s(0.95) * 1000:.0f} ms ({ratio:.2f} times)"
        )
        latency = {"native": native.document(), "wyoming": wyoming.document(), "p95_ratio": ratio}
        document["turns"] = {"ok": ratio <= WYOMING_MAY_TAKE, **latency}
    return document


def _one_per_protocol(programs: list[Program]) -> list[Program]:
    return list({program.protocol: program for program in programs}.values())


def _protocols() -> list[str]:
    return list(dict.fromkeys(program.protocol for program in PROGRAMS))


def _is_green(document: dict[str, Any]) -> bool:
    parts = [*document["rows"], *document.get("cycles", []), *([document["turns"]] if "turns" in document else [])]
    return all(part["ok"] for part in parts)


def main() -> None:
    """Parse, run, write, judge."""
    parser = argparse.ArgumentParser(prog="tools/protocols", description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--docs", action="store_true", help="write the table into docs/protocols.md")
    parser.add_argument("--cycles", type=int, default=0, metavar="N", help="connections to break off, per protocol")
    parser.add_argument("--turns", type=int, default=0, metavar="N", help="turns to measure, native beside Wyoming")
    parser.add_argument("--only", default="", choices=_protocols(), help="one protocol")
    parser.add_argument("--no-rows", dest="rows", action="store_false", help="only what the other options ask for")
    parser.add_argument("--model", default=str(MODEL), help="default: the bundled model's twin that only appends")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, running(args.model) as daemon:
        document = asyncio.run(everything(daemon, args, Path(folder)))
    if args.json:
        args.json.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    raise SystemExit(0 if _is_green(document) else 1)


if __name__ == "__main__":
    main()
