"""The digests a publisher lists beside its files, as ``sha256sum`` prints them or with the name first."""

from __future__ import annotations

import re

_SHA256 = re.compile(r"[0-9a-f]{64}")


def listed_digest(text: str, name: str) -> str:
    """SHA-256 of ``name`` in lower-case hex; empty when the list does not have it."""
    for line in text.splitlines():
        fields = [field.lstrip("*") for field in line.split()]
        digest = next((field.lower() for field in fields if _SHA256.fullmatch(field.lower())), "")
        if digest and name in fields:
            return digest
    return ""
