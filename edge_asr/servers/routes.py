"""Which websocket protocol is spoken where."""

from __future__ import annotations

from collections.abc import Mapping

from edge_asr.protocols.native import NativeConversation
from edge_asr.protocols.realtime import RealtimeConversation
from edge_asr.protocols.sherpa import SherpaConversation
from edge_asr.protocols.sherpa_offline import SherpaOfflineConversation
from edge_asr.protocols.sherpa_port import SherpaPortConversation
from edge_asr.protocols.vosk import VoskConversation
from edge_asr.servers.websocket import OpenConversation
from edge_asr.settings import LimitSettings


def websocket_routes(limits: LimitSettings) -> Mapping[str, OpenConversation]:
    """Path on the HTTP port to what is spoken there."""
    return {
        "/v1/stream": lambda _: NativeConversation(),
        "/v1/realtime": RealtimeConversation,
        "/vosk": VoskConversation,
        "/sherpa": SherpaConversation,
        "/sherpa-offline": lambda handshake: SherpaOfflineConversation(limits.max_upload_s, handshake),
    }


def port_conversation(name: str, limits: LimitSettings) -> OpenConversation:
    """What is spoken on a port of its own."""
    if name == "vosk":
        return VoskConversation
    return lambda handshake: SherpaPortConversation(limits.max_upload_s, handshake)
