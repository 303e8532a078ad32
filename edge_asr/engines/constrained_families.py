"""Which families can be decoded under a constraint, known without loading what decodes them."""

from __future__ import annotations

CONSTRAINED_FAMILIES = ("moonshine",)
