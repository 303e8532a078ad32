"""TLS with a certificate made for the test: real handshakes, https and wss."""

from __future__ import annotations

import shutil
import ssl
import subprocess
from pathlib import Path

import httpx
import pytest

from tests.support.doors import http_door, native_client, read_messages
from tests.support.recognizer import ScriptedRecognizer

pytestmark = pytest.mark.skipif(not shutil.which("openssl"), reason="openssl is not installed")


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[str, str]:
    """Files of a certificate for 127.0.0.1 and of its key."""
    cert, key = str(tmp_path / "cert.pem"), str(tmp_path / "key.pem")
    make = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1"]
    names = ["-subj", "/CN=edge-asr test", "-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run([*make, *names, "-out", cert, "-keyout", key], check=True, capture_output=True)
    return cert, key


async def test_https_and_wss_serve_who_trusts_the_certificate(certificate: tuple[str, str]) -> None:
    cert, key = certificate
    trusting = ssl.create_default_context(cafile=cert)
    async with http_door(ScriptedRecognizer(), tls_cert=cert, tls_key=key) as base:
        assert base.startswith("https://127.0.0.1:")
        async with httpx.AsyncClient(base_url=base, verify=trusting) as client:
            assert (await client.get("/health/ready")).status_code == 200
        async with native_client(base, ssl=trusting) as client:
            await client.send('{"type":"hello"}')
            await client.recv()
            await client.send(bytes(640))
            await client.send('{"type":"finish"}')
            assert [message["type"] for message in await read_messages(client)] == ["partial", "final", "ended"]


async def test_who_does_not_trust_it_gets_no_connection(certificate: tuple[str, str]) -> None:
    cert, key = certificate
    async with http_door(ScriptedRecognizer(), tls_cert=cert, tls_key=key) as base, httpx.AsyncClient() as client:
        with pytest.raises(httpx.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
            await client.get(f"{base}/health/ready")


async def test_plain_http_is_not_served_there(certificate: tuple[str, str]) -> None:
    cert, key = certificate
    async with http_door(ScriptedRecognizer(), tls_cert=cert, tls_key=key) as base, httpx.AsyncClient() as client:
        with pytest.raises(httpx.TransportError):
            await client.get(f"{base.replace('https', 'http')}/health/ready")
