"""The errors of this package."""

from typing import Dict, List, Optional

from .types import LaterChanges, Transcription


class TranscribeError(Exception):
    """Base of all errors of this package."""


class ApiError(TranscribeError):
    """The server refused a request. Decide by `code`; a proxy's answer has the code `unknown`."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        request_id: Optional[str] = None,
        errors: Optional[Dict[str, List[str]]] = None,
        required: Optional[str] = None,
        changes: Optional[LaterChanges] = None,
        retry_after: Optional[float] = None,
    ) -> None:
        details = "".join(f" {field}: {' '.join(all)}" for field, all in (errors or {}).items())
        super().__init__(_printable(f"{status} {code}: {message}{details}"))
        self.status = status
        self.code = code
        self.message = message
        self.request_id = request_id
        """The request's id in the server's log."""
        self.errors = errors or {}
        """Messages by the name of the field, with `validation_failed`."""
        self.required = required
        """The scope that the key lacks, with `insufficient_scope`."""
        self.changes = changes
        """What others have changed, with `precondition_failed`."""
        self.retry_after = retry_after
        """Seconds to wait, if the server sent them."""


class NoAnswerError(TranscribeError):
    """No server answered: the connection failed or was lost, or the answer took too long."""

    def __init__(self, message: str, is_temporary: bool) -> None:
        super().__init__(message)
        self.is_temporary = is_temporary
        """Whether a retry may succeed.

        Not with a certificate that is not trusted, or where no server has answered so far.
        """


class BadAnswerError(TranscribeError):
    """The answer does not follow the API, or is a redirect.

    A redirect is never followed, because it could disclose the key.
    """


class LiveClosedError(TranscribeError):
    """The server closed a live session, which can't be resumed.

    It becomes a recording, unless it was not to be kept.
    """

    def __init__(self, close_code: int, reason: str) -> None:
        text = f": {reason}" if reason else ""
        super().__init__(_printable(f"the session was closed ({close_code}){text}"))
        self.close_code = close_code
        """Close code of the WebSocket, e.g. 1008."""


class CancelledError(TranscribeError):
    """The caller's event was set."""


class TranscriptionFailedError(TranscribeError):
    """The transcription ended as `failed`."""

    def __init__(self, transcription: Transcription) -> None:
        reason = transcription["failure_reason"]
        super().__init__(f"transcription {transcription['id']} failed: {reason}")
        self.transcription = transcription


class StillProcessingError(TranscribeError):
    """The wait for a transcription is over before it ended.

    It continues on the server: call `wait` again with its id.
    """

    def __init__(self, id: str) -> None:
        super().__init__(f"transcription {id} has not ended yet")
        self.id = id


def _printable(text: str) -> str:
    """Replaces control characters, so that an answer can't control a terminal."""
    return "".join(each if each.isprintable() else " " for each in text)
