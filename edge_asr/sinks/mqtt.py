"""Finals to an MQTT broker: ``TOPIC/final`` as JSON, and ``TOPIC/status``, retained, as ``online`` or ``offline``.

The broker itself says ``offline`` when the daemon is gone without a word. A broker that cannot be reached is asked
again with growing patience, and what was said meanwhile is published then, the last finals at least.
"""

from __future__ import annotations

import asyncio
import logging
import re
import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

import msgspec

from edge_asr.errors import ConfigurationError, LibraryMissing
from edge_asr.settings import MqttSettings
from edge_asr.sinks.base import Spoken, Waiting

if TYPE_CHECKING:
    import aiomqtt

logger = logging.getLogger(__name__)

FIRST_PATIENCE_S = 1.0
LONGEST_PATIENCE_S = 60.0
ANSWER_S = 10.0
"""For the broker to confirm a message."""

MOST_TRIES = 5
"""With one final, when the broker hangs up on each; then it is given up, so that it does not hold up the others."""

AT_LEAST_ONCE = 1


@dataclass(frozen=True, slots=True)
class Broker:
    """Where it is, and as whom to go there."""

    host: str
    port: int
    is_tls: bool
    username: str
    password: str

    def __repr__(self) -> str:
        return f"{self.host}:{self.port}"


def broker_of(settings: MqttSettings) -> Broker:
    """Read the address and the password.

    Raises:
        ConfigurationError: The address is none, or the password cannot be read.
    """
    try:
        parts = urlsplit(settings.url)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    if parts.scheme not in ("mqtt", "mqtts") or not parts.hostname:
        raise ConfigurationError(
            f"mqtt.url = {_without_password(settings.url)!r} is no broker; write mqtt://HOST:1883 or mqtts://HOST:8883"
        )
    is_tls = parts.scheme == "mqtts"
    return Broker(
        parts.hostname,
        port or (8883 if is_tls else 1883),
        is_tls,
        settings.username or unquote(parts.username or ""),
        _password(settings.password_file) if settings.password_file else unquote(parts.password or ""),
    )


class MqttSink:
    """Implements :class:`~edge_asr.sinks.base.Sink`."""

    name = "mqtt"

    def __init__(self, settings: MqttSettings, waiting: Waiting) -> None:
        """Prepare; nothing is connected yet.

        Raises:
            ConfigurationError: The address is none, or the password cannot be read.
            LibraryMissing: The extra ``mqtt`` is not installed.
        """
        try:
            import aiomqtt  # noqa: F401  looked for at the start, not with the first final
        except ImportError as error:
            raise LibraryMissing("aiomqtt", "pip install 'edge-asr[mqtt]'") from error
        self._broker = broker_of(settings)
        self._topic = settings.topic
        self._waiting = waiting
        self._patience_s = FIRST_PATIENCE_S
        self._tried: Spoken | None = None
        self._tries = 0

    def offer(self, spoken: Spoken) -> None:
        """Take a final."""
        self._waiting.put(spoken)

    async def drained(self) -> None:
        """Wait until nothing waits."""
        await self._waiting.drained()

    async def run(self) -> None:
        """Keep a connection and publish, until cancelled."""
        import aiomqtt

        self._patience_s = FIRST_PATIENCE_S
        while True:
            try:
                async with self._client() as client:
                    await self._publish(client)
            except (aiomqtt.MqttError, OSError, TimeoutError) as error:
                # Once per outage: a broker may be off for days.
                level = logging.WARNING if self._patience_s == FIRST_PATIENCE_S else logging.DEBUG
                logger.log(level, "MQTT broker %s: %s; trying again in %.0f s", self._broker, error, self._patience_s)
            if (task := asyncio.current_task()) is not None and task.cancelling():
                raise asyncio.CancelledError  # the library takes a cancelled connection for a failed one
            await asyncio.sleep(self._patience_s)
            self._patience_s = min(2 * self._patience_s, LONGEST_PATIENCE_S)

    def _client(self) -> aiomqtt.Client:
        import aiomqtt

        broker = self._broker
        return aiomqtt.Client(
            broker.host,
            broker.port,
            username=broker.username or None,
            password=broker.password or None,
            will=aiomqtt.Will(f"{self._topic}/status", "offline", qos=AT_LEAST_ONCE, retain=True),
            tls_context=ssl.create_default_context() if broker.is_tls else None,
            timeout=ANSWER_S,
        )

    async def _publish(self, client: aiomqtt.Client) -> None:
        status = f"{self._topic}/status"
        await client.publish(status, "online", qos=AT_LEAST_ONCE, retain=True)
        logger.info("publishing finals at %s, topic %s/final", self._broker, self._topic)
        self._patience_s = FIRST_PATIENCE_S  # not before: a broker may greet everybody and then hang up
        try:
            while True:
                spoken = await self._waiting.first()
                if self._is_hopeless(spoken):
                    logger.warning(
                        "MQTT broker %s hangs up on a final of session %s: it is given up",
                        self._broker,
                        spoken.session_id,
                    )
                    self._waiting.done(spoken, "failed")
                    continue
                await client.publish(f"{self._topic}/final", msgspec.json.encode(spoken), qos=AT_LEAST_ONCE)
                self._waiting.done(spoken, "delivered")
        except asyncio.CancelledError:
            await client.publish(status, "offline", qos=AT_LEAST_ONCE, retain=True)
            raise

    def _is_hopeless(self, spoken: Spoken) -> bool:
        """Counts how often this final is tried."""
        self._tries = self._tries + 1 if spoken is self._tried else 1
        self._tried = spoken
        return self._tries > MOST_TRIES


def _without_password(url: str) -> str:
    """The address as it may be shown, whatever else is wrong with it."""
    return re.sub(r"^([a-z]*://)?.*@", r"\1…@", url, flags=re.DOTALL)


def _password(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"mqtt.password_file {path} cannot be read: {error}") from error
