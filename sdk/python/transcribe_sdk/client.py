"""The client of the API."""

import os
import ssl
import threading
import time
import uuid
from dataclasses import dataclass
from typing import Callable, Iterator, List, Optional, Union, cast

from ._recording_file import RecordingFile, RecordingInput
from ._transport import Download, Stop, Transport
from .editing import Editing
from .errors import StillProcessingError, TranscriptionFailedError
from .live import LiveSession
from .live_types import LiveParameters
from .operations import Operations
from .types import (
    ExportFormat,
    FileFormat,
    Language,
    ListedTranscription,
    Segment,
    SegmentPage,
    SpeakerStyle,
    TextName,
    Transcription,
    TranscriptionForm,
)

FIRST_PAUSE_SECONDS = 10.0
SHORT_PAUSE_SECONDS = 5.0
MAX_PAUSE_SECONDS = 30.0
LONG_RECORDING_SECONDS = 600
"""Length of a recording from which the pauses between polls grow."""
MAX_PAGE_SIZE = 100
MAX_SEGMENT_PAGE_SIZE = 1000

Progress = Callable[[Transcription], object]


@dataclass(frozen=True)
class Transcript:
    """A completed transcription with its segments."""

    transcription: Transcription
    segments: List[Segment]


class Client:
    """A client of one server with one key. Requests are retried as the API recommends.

    base_url: Address of the server, e.g. `https://transcribe.example.org`.
    key: An API key: `trs_…`.
    timeout: Seconds without progress after which a connection counts as lost.
    retry_seconds: Seconds for which a request is retried; 0 never retries.
    ssl_context: Trusted certificates, if they are not those of the system.

    Raises ValueError when the address or the key is malformed.
    """

    def __init__(
        self,
        base_url: str,
        key: str,
        *,
        timeout: float = 120,
        retry_seconds: float = 600,
        ssl_context: Optional[ssl.SSLContext] = None,
    ) -> None:
        transport = Transport(base_url, key, timeout, retry_seconds, ssl_context)
        self._transport = transport
        self.operations = Operations(transport)
        """The operations of the API, one request each, with the same retries."""
        self.editing = Editing(self.operations, transport)
        """Changes of recordings and transcripts."""

    def __repr__(self) -> str:
        return f"Client({self._transport.base_url!r})"

    def transcribe(
        self,
        recording: RecordingInput,
        hints: Optional[TranscriptionForm] = None,
        *,
        name: Optional[str] = None,
        idempotency_key: Optional[str] = None,
        words: bool = False,
        poll_seconds: Optional[float] = None,
        on_progress: Optional[Progress] = None,
        timeout: Optional[float] = None,
        cancel: Optional[threading.Event] = None,
    ) -> Transcript:
        """Uploads a recording or sends its link, waits, and returns its transcript.

        recording: A path or bytes; or an http(s) link, which the server downloads.
        timeout: Seconds for the whole call; without it, as long as the API recommends.

        Raises TranscriptionFailedError, StillProcessingError, CancelledError, ApiError or
        NoAnswerError. Raises TimeoutError when `timeout` is over before the recording was accepted.
        """
        stop = Stop(cancel, timeout)
        created = self._create(recording, hints, name, idempotency_key, stop)
        transcription = self._wait(created["id"], poll_seconds, on_progress, stop)
        segments = list(self._segments(self.operations.list_segments, created["id"], words, stop))
        return Transcript(transcription, segments)

    def create(
        self,
        recording: RecordingInput,
        hints: Optional[TranscriptionForm] = None,
        *,
        name: Optional[str] = None,
        idempotency_key: Optional[str] = None,
        cancel: Optional[threading.Event] = None,
    ) -> Transcription:
        """Creates a transcription.

        All attempts have the same Idempotency-Key, so that there is only one recording. A key of
        your own also protects a create that is repeated after a restart of your program.
        """
        return self._create(recording, hints, name, idempotency_key, Stop(cancel))

    def live(self, parameters: Optional[LiveParameters] = None) -> LiveSession:
        """Opens a session in which words arrive while people speak.

        It is opened once, without retries: a person waits. Raises ApiError, NoAnswerError, or
        ImportError without the package websockets.
        """
        return LiveSession(self._transport, parameters or {}, self._transport.timeout)

    def get(self, id: str) -> Transcription:
        return self.operations.get_transcription(id)

    def wait(
        self,
        id: str,
        *,
        poll_seconds: Optional[float] = None,
        on_progress: Optional[Progress] = None,
        timeout: Optional[float] = None,
        cancel: Optional[threading.Event] = None,
    ) -> Transcription:
        """Polls until a transcription is completed.

        First after 10 s, then every 5 s; for recordings of ten minutes or more at doubling pauses
        up to 30 s. Raises TranscriptionFailedError; StillProcessingError after `timeout` seconds,
        or when it was processed for twice its length and ten minutes.
        """
        return self._wait(id, poll_seconds, on_progress, Stop(cancel, timeout))

    def segments(
        self, id: str, *, words: bool = False, cancel: Optional[threading.Event] = None
    ) -> Iterator[Segment]:
        """Returns the segments of a completed transcription, page by page."""
        return self._segments(self.operations.list_segments, id, words, Stop(cancel))

    def translation(
        self, id: str, *, words: bool = False, cancel: Optional[threading.Event] = None
    ) -> Iterator[Segment]:
        """Returns the segments of the translation of a transcription, page by page.

        The transcription was created with the task `translate`.
        """
        return self._segments(self.operations.get_translation, id, words, Stop(cancel))

    def list(
        self,
        *,
        status: Optional[str] = None,
        created_after: Optional[str] = None,
        created_before: Optional[str] = None,
    ) -> Iterator[ListedTranscription]:
        """Returns the transcriptions that the key may read, newest first, page by page."""
        cursor: Optional[str] = None
        while True:
            page = self.operations.list_transcriptions(
                limit=MAX_PAGE_SIZE,
                cursor=cursor,
                status=status,
                created_after=created_after,
                created_before=created_before,
            )
            yield from page["data"]
            if not page["has_more"] or not page["data"]:
                return
            cursor = page["next_cursor"]

    def export(self, id: str, format: ExportFormat) -> Download:
        """Downloads the transcript in a format."""
        return self.operations.export_transcription(id, format=format)

    def export_as(
        self,
        id: str,
        format: FileFormat,
        *,
        speakers: Optional[SpeakerStyle] = None,
        width: Optional[int] = None,
        lines: Optional[int] = None,
        words: Optional[int] = None,
        media: Optional[str] = None,
        text: Optional[TextName] = None,
    ) -> Download:
        """Downloads the transcript in any format of the server, in a chosen form.

        `export` is part of the contract of v1.
        """
        return self.operations.export_transcription_as(
            id,
            format,
            speakers=speakers,
            width=width,
            lines=lines,
            words=words,
            media=media,
            text=text,
        )

    def export_file(
        self, id: str, path: "Union[str, os.PathLike[str]]", format: Optional[ExportFormat] = None
    ) -> None:
        """Saves the transcript as a file, by default in the format that its extension names.

        The file is replaced when the download is complete.
        """
        extension = os.path.splitext(os.fspath(path))[1][1:].lower()
        # The server refuses an extension that is not a format.
        download = self.export(id, format or cast(ExportFormat, extension))
        unfinished = f"{os.fspath(path)}.{uuid.uuid4().hex}.part"
        try:
            with open(unfinished, "xb") as file:
                file.write(download.content)
            os.replace(unfinished, path)
        except BaseException:
            if os.path.exists(unfinished):
                os.unlink(unfinished)
            raise

    def delete(self, id: str) -> None:
        """Deletes a completed or failed transcription with its audio and its text."""
        self.operations.delete_transcription(id)

    def languages(self) -> "List[Language]":
        """Returns the languages that the server accepts."""
        return self.operations.list_languages()["data"]

    def _create(
        self,
        recording: RecordingInput,
        hints: Optional[TranscriptionForm],
        name: Optional[str],
        idempotency_key: Optional[str],
        stop: Stop,
    ) -> Transcription:
        form: TranscriptionForm = {}
        if hints is not None:
            form.update(hints)
        if isinstance(recording, str) and recording.lower().startswith(("http:", "https:")):
            form["url"] = recording
        else:
            form["file"] = RecordingFile(recording, name)
        key = idempotency_key or str(uuid.uuid4())
        return self.operations.create_transcription(form, idempotency_key=key, stop=stop)

    def _wait(
        self, id: str, poll_seconds: Optional[float], on_progress: Optional[Progress], stop: Stop
    ) -> Transcription:
        pause = FIRST_PAUSE_SECONDS if poll_seconds is None else poll_seconds
        queued_until = time.monotonic()
        while True:
            try:
                stop.sleep(pause)
                transcription = self.operations.get_transcription(id, stop=stop)
            except TimeoutError:
                raise StillProcessingError(id) from None
            if on_progress is not None:
                on_progress(transcription)
            if transcription["status"] == "completed":
                return transcription
            if transcription["status"] == "failed":
                raise TranscriptionFailedError(transcription)
            if transcription["status"] == "queued":
                queued_until = time.monotonic()
            length = transcription["duration_seconds"] or 0
            if time.monotonic() - queued_until > 2 * length + 600:
                raise StillProcessingError(id)
            is_long = length >= LONG_RECORDING_SECONDS
            recommended = min(MAX_PAUSE_SECONDS, pause * 2) if is_long else SHORT_PAUSE_SECONDS
            pause = recommended if poll_seconds is None else poll_seconds

    def _segments(
        self, read: Callable[..., SegmentPage], id: str, words: bool, stop: Stop
    ) -> Iterator[Segment]:
        cursor: Optional[str] = None
        while True:
            page = read(
                id, limit=MAX_SEGMENT_PAGE_SIZE, cursor=cursor, words=words or None, stop=stop
            )
            yield from page["data"]
            if not page["has_more"] or not page["data"]:
                return
            cursor = page["next_cursor"]
