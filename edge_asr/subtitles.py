"""Finals as documents: running text, SubRip and WebVTT. Pure; shared by the command line and the HTTP server."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from edge_asr.events import Final


def joined_text(texts: Iterable[str]) -> str:
    """Several segments as one text: a space between them, none between scripts that are written without."""
    joined = ""
    for text in texts:
        joined += segment_gap(joined, text) + text
    return joined


def segment_gap(before: str, after: str) -> str:
    """What stands between two segments: a space, or nothing beside Han, Kana and other unspaced scripts."""
    if not before or not after or (_is_unspaced(before[-1]) and _is_unspaced(after[0])):
        return ""
    return " "


def srt(finals: Sequence[Final]) -> str:
    """SubRip; segments without text are left out. Empty when nothing was said."""
    cues = [final for final in finals if final.text]
    return "".join(srt_cue(number, cue) for number, cue in enumerate(cues, start=1))


def srt_cue(number: int, cue: Final) -> str:
    """One segment as SubRip; cues are numbered from 1."""
    return f"{number}\n{_time(cue.start_s, ',')} --> {_time(_cue_end_s(cue), ',')}\n{cue.text}\n\n"


def vtt(finals: Sequence[Final]) -> str:
    """WebVTT; segments without text are left out."""
    cues = "".join(
        f"{_time(cue.start_s, '.')} --> {_time(_cue_end_s(cue), '.')}\n{_escaped(cue.text)}\n\n"
        for cue in finals
        if cue.text
    )
    return f"WEBVTT\n\n{cues}"


def _cue_end_s(cue: Final) -> float:
    # Players skip a cue whose end is not after its start.
    return max(cue.end_s, cue.start_s + 0.001)


def _time(seconds: float, separator: str) -> str:
    milliseconds = max(0, round(seconds * 1000))
    minutes, milliseconds = divmod(milliseconds, 60_000)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02}:{minutes:02}:{milliseconds // 1000:02}{separator}{milliseconds % 1000:03}"


def _escaped(text: str) -> str:
    # WebVTT reads "<" and "&" as markup, and "-->" as a time line.
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _is_unspaced(char: str) -> bool:
    return any(low <= char <= high for low, high in _UNSPACED)


_UNSPACED = (
    ("\u0e00", "\u0eff"),  # Thai, Lao
    ("\u1000", "\u109f"),  # Burmese
    ("\u1780", "\u17ff"),  # Khmer
    ("\u3000", "\u30ff"),  # CJK punctuation, Kana
    ("\u3400", "\u9fff"),  # Han
    ("\uf900", "\ufaff"),
    ("\uff00", "\uffef"),  # full-width forms
)
