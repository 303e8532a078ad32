from __future__ import annotations

from tools.peers_bench.comparison import Figures, Ratio
from tools.peers_bench.table import figures_table, load_note, ratios_table


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_a_peer_has_a_row_with_its_streams_and_gaps_where_it_was_not_asked() -> None:
    figures = Figures("daemon", "m", None, None, 0.051, 81.6, 123.4, 0.0204, 0.5)
    *_, row = figures_table([figures], [("daemon", "m", 9), ("daemon", "m", 11), ("other", "m", 3)]).splitlines()
    assert cells(row) == ["m", "daemon", "", "", "5.1", "82", "123", "9, 11", "2.0%", "50%"]


def test_a_ratio_without_an_interval_says_nothing_about_it() -> None:
    *_, known, unknown = ratios_table(
        [Ratio("a", "m", "edge-asr daemon", "peer", 1.234, 1.1, 1.4), Ratio("b", "m", "x", "y", 2.0, None, None)]
    ).splitlines()
    assert cells(known) == ["a", "m", "daemon", "peer", "1.23", "1.10 to 1.40"]
    assert cells(unknown)[-2:] == ["2.00", ""]


def test_a_busy_machine_is_said() -> None:
    assert "50% of the machine" in load_note([0.1, 0.5, 0.9])
    assert "disturbed" in load_note([0.1, 0.5, 0.9])
    assert "disturbed" not in load_note([0.01])
