"""Requests with the key, repeated as long as that makes sense."""

import http.client
import json
import random
import socket
import ssl
import time
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Callable, Dict, Iterator, Mapping, Optional, Tuple, Union, cast
from urllib.parse import urlencode, urlsplit

from ._recording_file import FormBody
from ._stop import NO_STOP, Stop
from .errors import ApiError, BadAnswerError, NoAnswerError
from .types import BASE_PATH, VERSION, LaterChanges

__all__ = ["NO_STOP", "Download", "Request", "Stop", "Transport"]

Value = Union[str, int, bool, None]
Header = Callable[[str], Optional[str]]

OUTAGE_PAUSES = (1.0, 60.0)
CONFLICT_PAUSES: Mapping[str, Tuple[float, float]] = {
    "concurrency_limit": (5.0, 30.0),
    "idempotency_request_in_progress": (2.0, 30.0),
}
"""Codes of status 409 that pass with time, each with the first pause and the longest.

A place becomes free, or the first request with the same key is answered.
"""
MIN_FILE_SECONDS = 300.0
"""Seconds for an export: a document is generated on request, and may be queued."""


@dataclass(frozen=True)
class Request:
    """A request below the API's base path."""

    method: str
    path: str
    query: Mapping[str, Value] = field(default_factory=dict)
    headers: Mapping[str, Optional[str]] = field(default_factory=dict)
    form: Optional[Mapping[str, object]] = None
    body: Optional[Mapping[str, object]] = None
    """Sent as JSON."""

    @property
    def is_repeatable(self) -> bool:
        return self.method != "POST" or self.headers.get("Idempotency-Key") is not None


@dataclass(frozen=True)
class Download:
    """A downloaded file."""

    content: bytes
    media_type: str
    etag: Optional[str]
    is_unchanged: bool
    """Whether the file still has the tag in `if_none_match`; `content` is empty in this case."""


@dataclass(frozen=True)
class _Answer:
    status: int
    headers: http.client.HTTPMessage
    content: bytes


class Transport:
    """Sends requests to one server with one key."""

    def __init__(
        self,
        base_url: str,
        key: str,
        timeout: float,
        retry_seconds: float,
        ssl_context: Optional[ssl.SSLContext],
    ) -> None:
        self.base_url, self._host, self._path, self._is_tls = _address(base_url)
        # An invalid header would be named in an error of the runtime, with the key.
        if not key or not all("!" <= each <= "~" for each in key):
            raise ValueError("the API key is empty or has characters that no key has")
        self._authorization = _Secret(f"Bearer {key}")
        self._retry_seconds = retry_seconds
        self.timeout = timeout
        self.ssl_context = ssl_context
        self._reached = False

    def json(self, request: Request, stop: Stop) -> object:
        answer = self._run(request, stop, self.timeout)
        try:
            value: object = json.loads(answer.content)
        except ValueError:
            value = None
        if not isinstance(value, dict):
            raise BadAnswerError(f"{self.base_url} answered without JSON")
        return value

    def nothing(self, request: Request, stop: Stop) -> None:
        self._run(request, stop, self.timeout)

    def file(self, request: Request, stop: Stop) -> Download:
        answer = self._run(request, stop, max(MIN_FILE_SECONDS, self.timeout))
        media_type = answer.headers.get("Content-Type", "")
        etag = answer.headers.get("ETag")
        return Download(answer.content, media_type, etag, answer.status == 304)

    def address_of(self, path: str, query: Mapping[str, object]) -> str:
        """Returns the URL of a path below the API's base path."""
        values = {name: _text(value) for name, value in query.items() if value is not None}
        return f"{self.base_url}{path}?{urlencode(values)}"

    def headers(self) -> Dict[str, str]:
        """Returns the headers of every request."""
        return {
            "Authorization": self._authorization.reveal(),
            "User-Agent": f"transcribe-sdk-python/{VERSION}",
        }

    def refusal_of(
        self, status: int, header: Header, content: bytes
    ) -> Union[ApiError, BadAnswerError]:
        """Converts an unsuccessful answer to an error. `header` returns a header's value."""
        if status < 400:
            return BadAnswerError(f"{self.base_url} redirects; use the final address")
        return _refusal(status, header, content, self.base_url)

    def no_answer(self, error: Exception) -> NoAnswerError:
        """Converts an error of the network."""
        is_temporary = not isinstance(error, ssl.SSLCertVerificationError) and (
            self._reached or not isinstance(error, (ConnectionRefusedError, socket.gaierror))
        )
        return NoAnswerError(f"no answer from {self.base_url} ({_reason(error)})", is_temporary)

    def _run(self, request: Request, stop: Stop, timeout: float) -> _Answer:
        """Sends a request until it succeeds, or until its failure stays."""
        backoff = _Backoff(self._retry_seconds)
        attempts = 0
        while True:
            stop.check()
            try:
                answer = self._attempt(request, stop, timeout)
                self._reached = True
                return answer
            except (ApiError, NoAnswerError) as error:
                stop.check()
                self._reached = self._reached or isinstance(error, ApiError)
                is_gone = isinstance(error, ApiError) and error.status == 404
                if request.method == "DELETE" and attempts > 0 and is_gone:
                    # An earlier attempt deleted the recording, but its answer was lost.
                    return _Answer(204, http.client.HTTPMessage(), b"")
                pause = backoff.after(error) if request.is_repeatable else None
                if pause is None:
                    raise
            stop.sleep(pause)
            attempts += 1

    def _attempt(self, request: Request, stop: Stop, timeout: float) -> _Answer:
        query = {name: _text(value) for name, value in request.query.items() if value is not None}
        target = self._path + request.path + (f"?{urlencode(query)}" if query else "")
        headers: Dict[str, str] = {
            name: value for name, value in request.headers.items() if value is not None
        }
        headers.update(self.headers())
        body: Union[None, bytes, Iterator[bytes]] = None
        if request.body is not None:
            headers["Content-Type"] = "application/json"
            body = json.dumps(request.body).encode()
        if request.form is not None:
            form = FormBody(request.form)
            headers.update(form.headers())
            body = _stoppable(form.blocks(), stop)
        connection = self._connect(max(0.001, min(timeout, stop.remaining())))
        try:
            try:
                connection.request(request.method, target, body, headers)
            except (BrokenPipeError, ConnectionResetError):
                # A server that refuses an upload answers before the end of it.
                pass
            response = connection.getresponse()
            answer = _Answer(response.status, response.headers, response.read())
        except _UnreadableRecording as unreadable:
            raise unreadable.error from None
        except (OSError, http.client.HTTPException) as error:
            raise self.no_answer(error) from error
        finally:
            connection.close()
        if answer.status < 300 or answer.status == 304:
            return answer
        raise self.refusal_of(answer.status, answer.headers.get, answer.content)

    def _connect(self, timeout: float) -> http.client.HTTPConnection:
        if not self._is_tls:
            return http.client.HTTPConnection(self._host, timeout=timeout)
        context = self.ssl_context or ssl.create_default_context()
        return http.client.HTTPSConnection(self._host, timeout=timeout, context=context)


class _Secret:
    """A text that no representation shows."""

    def __init__(self, text: str) -> None:
        self.__text = text

    def reveal(self) -> str:
        return self.__text

    def __repr__(self) -> str:
        return "<secret>"


class _Backoff:
    """Computes the pauses before the retries of one request, by the same rules as the TypeScript client."""

    def __init__(self, retry_seconds: float) -> None:
        self._retry_seconds = retry_seconds
        self._pauses = 0
        self._last_code = ""
        self._failing_since: Optional[float] = None
        """Time of the first failure. The time before it, such as that of a long upload, does not count."""

    def after(self, error: Union[ApiError, NoAnswerError]) -> Optional[float]:
        """Returns the pause in seconds, or None if the error stays or the time for retries is over.

        Only 429, 5xx, a lost connection and two conflicts pass with time.
        """
        pauses = _pauses_after(error)
        if pauses is None:
            return None
        code = error.code if isinstance(error, ApiError) else ""
        known = error.retry_after if isinstance(error, ApiError) else None
        if code != self._last_code:
            self._pauses = 0
        self._last_code = code
        asked = known or 0.0
        is_exact = isinstance(error, ApiError) and error.status == 429 and known is not None
        pause = asked if is_exact else max(asked, self._next(pauses))
        now = time.monotonic()
        if self._failing_since is None:
            self._failing_since = now
        left = self._failing_since + self._retry_seconds - now
        return None if left <= 0 or asked > left else min(pause, left)

    def _next(self, pauses: Tuple[float, float]) -> float:
        """Returns 50 to 100 % of the doubled pause, so that many clients don't retry together."""
        first, longest = pauses
        seconds = min(longest, first * 2.0 ** min(self._pauses, 32))
        self._pauses += 1
        return seconds * (0.5 + random.random() / 2)


def _pauses_after(error: Union[ApiError, NoAnswerError]) -> Optional[Tuple[float, float]]:
    if isinstance(error, NoAnswerError):
        return OUTAGE_PAUSES if error.is_temporary else None
    is_outage = error.status == 429 or error.status >= 500
    return CONFLICT_PAUSES.get(error.code, OUTAGE_PAUSES if is_outage else None)


class _UnreadableRecording(Exception):
    """Carries an error of the file past the errors of the network, which are of the same class."""

    def __init__(self, error: OSError) -> None:
        self.error = error


def _stoppable(blocks: Iterator[bytes], stop: Stop) -> Iterator[bytes]:
    while True:
        stop.check()
        try:
            block = next(blocks, None)
        except OSError as error:
            raise _UnreadableRecording(error) from None
        if block is None:
            return
        yield block


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _reason(error: Exception) -> str:
    return "the time is over" if isinstance(error, TimeoutError) else type(error).__name__


def _refusal(status: int, header: Header, content: bytes, base_url: str) -> ApiError:
    try:
        body: object = json.loads(content)
    except ValueError:
        body = None
    envelope: Dict[str, object] = body if isinstance(body, dict) else {}
    code, message = envelope.get("error"), envelope.get("message")
    errors, required = envelope.get("errors"), envelope.get("required")
    changes = envelope.get("changes")
    return ApiError(
        status,
        code if isinstance(code, str) else "unknown",
        message
        if isinstance(message, str)
        else f"{base_url} answered without an error of the API",
        request_id=header("X-Request-Id"),
        errors=errors if isinstance(errors, dict) else None,
        required=required if isinstance(required, str) else None,
        changes=cast(LaterChanges, changes) if isinstance(changes, dict) else None,
        retry_after=_seconds(header("Retry-After")),
    )


def _seconds(header: Optional[str]) -> Optional[float]:
    """Parses `Retry-After`: seconds, or a date, which proxies send."""
    if header is None:
        return None
    if header.isascii() and header.isdigit():
        return float(header)
    try:
        return max(0.0, parsedate_to_datetime(header).timestamp() - time.time())
    except (TypeError, ValueError):
        return None


def _address(base_url: str) -> Tuple[str, str, str, bool]:
    """Returns the API's address, its host and path, and whether it uses TLS.

    Raises ValueError without naming the address, which may have a password.
    """
    try:
        url = urlsplit(base_url)
        url.port  # raises for a port that is not a number
    except ValueError:
        raise ValueError("base_url is not a URL") from None
    if url.scheme not in ("http", "https") or not url.hostname:
        raise ValueError("base_url must begin with http:// or https:// and a host")
    if "@" in url.netloc or url.query or url.fragment:
        raise ValueError("base_url may have neither credentials nor a query")
    path = url.path.rstrip("/")
    if not path.endswith(BASE_PATH):
        path += BASE_PATH
    return f"{url.scheme}://{url.netloc}{path}", url.netloc, path, url.scheme == "https"
