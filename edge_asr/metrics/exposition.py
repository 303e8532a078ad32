"""Metrics as text that Prometheus reads."""

from __future__ import annotations

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, disable_created_metrics, generate_latest

CONTENT_TYPE = CONTENT_TYPE_LATEST
"""Value of the ``Content-Type`` header for :func:`render`."""


def new_registry() -> CollectorRegistry:
    """A registry of our own: no figures of the interpreter, nothing that another library registers."""
    # A second series with the time of birth of each counter would double the text and nobody reads it.
    disable_created_metrics()  # type: ignore[no-untyped-call]
    return CollectorRegistry(auto_describe=True)


def render(registry: CollectorRegistry) -> bytes:
    """Everything in the registry, now, in the Prometheus text format."""
    return generate_latest(registry)
