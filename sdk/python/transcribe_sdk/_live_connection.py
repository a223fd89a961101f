"""One connection of a live session: a WebSocket of the package websockets."""

import importlib
import json
import socket
import ssl
from contextlib import ExitStack
from typing import Any, Dict, List, Mapping, Optional, Union, cast
from urllib.parse import urlsplit

from ._transport import Transport
from .errors import BadAnswerError, LiveClosedError, NoAnswerError
from .live_types import LiveEvent, SessionMessage

MAX_MESSAGE_BYTES = 16 * 1024 * 1024
CLOSE_SECONDS = 1.0
"""Time for the server's part of closing a connection."""

ServerMessage = Union[SessionMessage, LiveEvent]


class LiveConnection:
    """An open connection. The first message is `session`.

    Raises ImportError without the package websockets, ApiError when the server refuses, and
    NoAnswerError or BadAnswerError.
    """

    def __init__(
        self, transport: Transport, query: Mapping[str, object], timeout: float
    ) -> None:
        self._base_url = transport.base_url
        self._stack = ExitStack()
        module, self._errors = _websockets()
        address = transport.address_of("/live", query)
        try:
            self._socket = self._open(module.connect, transport, address, timeout)
        except self._errors.InvalidStatus as refused:
            answer = refused.response
            raise transport.refusal_of(
                answer.status_code, answer.headers.get, answer.body or b""
            ) from None
        except OSError as error:
            raise transport.no_answer(error) from error
        except (EOFError, ValueError, self._errors.WebSocketException) as error:
            raise NoAnswerError(f"{self._base_url} accepts no WebSocket", True) from error
        try:
            first = self.receive(timeout)
            if first["type"] != "session":
                raise self._bad_message()
            self.started = cast(SessionMessage, first)
            """The first message."""
        except TimeoutError as error:
            self.close()
            raise transport.no_answer(error) from error
        except BaseException:
            self.close()
            raise

    def _open(self, connect: Any, transport: Transport, address: str, timeout: float) -> Any:
        url = urlsplit(address)
        is_tls = url.scheme == "https"
        # With a socket of our own, websockets uses no proxy and follows no redirect.
        raw = socket.create_connection(
            (url.hostname or "", url.port or (443 if is_tls else 80)), timeout=timeout
        )
        try:
            connection = connect(
                "ws" + address[len("http") :],
                sock=raw,
                ssl=(transport.ssl_context or ssl.create_default_context()) if is_tls else None,
                additional_headers=transport.headers(),
                user_agent_header=None,
                compression=None,
                open_timeout=timeout,
                close_timeout=CLOSE_SECONDS,
                max_size=MAX_MESSAGE_BYTES,
            )
            return self._stack.enter_context(connection)
        except BaseException:
            raw.close()
            raise

    def send(self, data: Union[str, bytes]) -> None:
        """Sends a frame. Raises LiveClosedError or NoAnswerError when the connection is lost."""
        try:
            self._socket.send(data)
        except self._errors.ConnectionClosed as closed:
            raise self._closed(closed) from None

    def receive(self, timeout: Optional[float] = None) -> ServerMessage:
        """Returns the next message of a known type.

        Raises the errors of `send`, BadAnswerError, and TimeoutError.
        """
        while True:
            try:
                data: object = self._socket.recv(timeout)
            except self._errors.ConnectionClosed as closed:
                raise self._closed(closed) from None
            try:
                value: object = json.loads(data) if isinstance(data, str) else None
            except ValueError:
                value = None
            if not isinstance(value, dict):
                raise self._bad_message()
            message = cast(Dict[str, object], value)
            if message.get("type") not in FIELDS:
                continue
            if not _is_valid(message):
                raise self._bad_message()
            return cast(ServerMessage, message)

    def close(self) -> None:
        """Closes the connection. A blocked `receive` in another thread ends."""
        try:
            self._stack.close()
        except (OSError, self._errors.WebSocketException):
            pass

    def _bad_message(self) -> BadAnswerError:
        return BadAnswerError(f"{self._base_url} sent a message that is not of the API")

    def _closed(self, closed: Any) -> LiveClosedError:
        received = closed.rcvd
        if received is None:
            return LiveClosedError(1006, "")
        return LiveClosedError(int(received.code), str(received.reason))


def _websockets() -> "tuple[Any, Any]":
    """Returns the modules with the client and the errors of websockets."""
    try:
        client = importlib.import_module("websockets.sync.client")
        return client, importlib.import_module("websockets.exceptions")
    except ImportError:
        raise ImportError(
            "live sessions need the package websockets: pip install 'websockets>=15'"
        ) from None


_TEXT = (str,)
_NUMBER = (int, float)
_TEXT_OR_NONE = (str, type(None))
_AT_TIME = {"turn": _TEXT, "seconds": _NUMBER}
_SEGMENT = {
    "number": (int,),
    "start": _NUMBER,
    "end": _NUMBER,
    "text": _TEXT,
    "speaker": _TEXT_OR_NONE,
    "words": (list,),
}
_SPEAKER = {"segment": (int,), "speaker": _TEXT}

FIELDS: Mapping[str, Mapping[str, "tuple[type, ...]"]] = {
    "session": {
        "id": _TEXT,
        "sample_rate": (int,),
        "encoding": _TEXT,
        "language": _TEXT_OR_NONE,
        "keep": (bool,),
        "received_seconds": _NUMBER,
        "segments": (list,),
    },
    "speech_started": _AT_TIME,
    "speech_stopped": _AT_TIME,
    "committed": {"turn": _TEXT, "previous_turn": _TEXT_OR_NONE},
    "cleared": {},
    "partial": {"turn": _TEXT, "text": _TEXT, "words": (list,)},
    "final": {"turn": _TEXT, "segment": (dict,)},
    "turn_completed": {
        "turn": _TEXT,
        "text": _TEXT,
        "seconds": _NUMBER,
        "language": _TEXT_OR_NONE,
    },
    "turn_failed": {"turn": _TEXT},
    "speakers": {"speakers": (list,)},
    "error": {"error": _TEXT, "message": _TEXT},
    "ended": {"reason": _TEXT, "recording_id": _TEXT_OR_NONE},
}
"""Fields of the messages by their types."""


def _is_valid(message: Dict[str, object]) -> bool:
    """Returns whether a message has the fields of its type, and its segments have theirs."""
    if not _has(message, FIELDS[str(message["type"])]):
        return False
    if message["type"] == "final":
        return _has(message["segment"], _SEGMENT)
    if message["type"] == "session":
        return all(_has(each, _SEGMENT) for each in cast(List[object], message["segments"]))
    if message["type"] == "speakers":
        return all(_has(each, _SPEAKER) for each in cast(List[object], message["speakers"]))
    return True


def _has(value: object, fields: Mapping[str, "tuple[type, ...]"]) -> bool:
    if not isinstance(value, dict):
        return False
    record = cast(Dict[str, object], value)
    return all(name in record and isinstance(record[name], of) for name, of in fields.items())
