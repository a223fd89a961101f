# scripts/sdk generates this file from the API's OpenAPI document.
"""The types of the API. Answers are dictionaries of these types."""

from typing import Dict, List, Literal, Optional, TypedDict

from ._recording_file import RecordingFile

VERSION = "0.3.0"
"""Version of this package and of the program whose API it describes."""

BASE_PATH = "/api/public/v1"
"""Path of the API on a server."""

Task = Literal["transcribe", "translate"]


class TranscriptionForm(TypedDict, total=False):
    file: RecordingFile
    """One recording, audio or video, of any format that ffmpeg reads. Either this or `url`."""
    url: str
    """An http or https link to one recording, without credentials, at a public address. Either this
    or `file`.
    """
    language: str
    """Code of `GET /languages`, in upper or lower case. If omitted, the language is detected."""
    task: Task
    """With `translate`, the speech is translated to English as well; `GET
    /transcriptions/{id}/translation` has the result. The model in use must be able to translate.
    """
    prompt: str
    """Names and terms of this recording, separated by commas or line ends. They are used together
    with the account's vocabulary. An empty prompt is none.
    """
    speakers: int
    """Exact number of speakers. It can't be combined with `min_speakers` and `max_speakers`."""
    min_speakers: int
    """Minimum number of speakers."""
    max_speakers: int
    """Maximum number of speakers, at least `min_speakers`."""


TranscriptionStatus = Literal["queued", "processing", "completed", "failed"]

TranscriptionSourceType = Literal["file", "url"]


class TranscriptionSource(TypedDict):
    """Origin of the recording."""

    type: TranscriptionSourceType
    """How the recording was sent."""
    name: Optional[str]
    """Name of the uploaded file without its extension; null for a link."""
    url: Optional[str]
    """The link that was sent, without its fragment; null for an upload."""


class TranscriptionWorkspace(TypedDict):
    """The workspace of the key that created the recording; null for none."""

    id: str
    name: str


TranscriptionProgressStep = Literal[
    "fetch",
    "decode",
    "detect",
    "transcribe",
    "diarize",
    "finalize",
]


class TranscriptionProgress(TypedDict):
    """Progress to show to people. Only `status` shows whether processing has ended."""

    step: Optional[TranscriptionProgressStep]
    """The current step, as a label to show. Null before processing begins and after it has ended.
    """
    percent: Optional[int]
    """Completed part of all steps; it never decreases. Null if it can't be measured."""
    indeterminate: bool
    """Whether the current step can't be measured."""


TranscriptionFailureReason = Literal["no_speech", "too_short", "quota_exceeded", "internal"]


class Transcription(TypedDict):
    """A recording and its status."""

    id: str
    """A UUID of version 7: it sorts by creation."""
    status: TranscriptionStatus
    title: Optional[str]
    """Null in this version."""
    language: Optional[str]
    """ISO 639-1 code, or 639-3 if 639-1 has none: the language that was sent, or the detected one.
    Null until known; if no speech was found, null unless a language was sent.
    """
    duration_seconds: Optional[int]
    """Length of the recording, rounded. Null until known."""
    created_at: str
    """With milliseconds, as UTC with the offset +00:00."""
    updated_at: str
    """Time of the last change of any field."""
    source: TranscriptionSource
    """Origin of the recording."""
    workspace: Optional[TranscriptionWorkspace]
    """The workspace of the key that created the recording; null for none."""
    progress: TranscriptionProgress
    """Progress to show to people. Only `status` shows whether processing has ended."""
    failure_reason: Optional[TranscriptionFailureReason]
    """Null unless `failed`. `no_speech`: no speech was found. `too_short`: less than half a second
    of audio. `quota_exceeded`: the account's audio quota of the day was used up when processing was
    to begin. `internal`: a fault of the service, a link that could not be fetched, or a recording
    that is too long.
    """


class ListedTranscriptionProgress(TypedDict):
    """Progress to show to people. Only `status` shows whether processing has ended."""

    step: Optional[TranscriptionProgressStep]
    """The current step, as a label to show. Null before processing begins and after it has ended.
    """


class ListedTranscription(TypedDict):
    """A recording in a list. Its progress contains only the step."""

    id: str
    """A UUID of version 7: it sorts by creation."""
    status: TranscriptionStatus
    title: Optional[str]
    """Null in this version."""
    language: Optional[str]
    """ISO 639-1 code, or 639-3 if 639-1 has none: the language that was sent, or the detected one.
    Null until known; if no speech was found, null unless a language was sent.
    """
    duration_seconds: Optional[int]
    """Length of the recording, rounded. Null until known."""
    created_at: str
    """With milliseconds, as UTC with the offset +00:00."""
    updated_at: str
    """Time of the last change of any field."""
    source: TranscriptionSource
    """Origin of the recording."""
    workspace: Optional[TranscriptionWorkspace]
    """The workspace of the key that created the recording; null for none."""
    failure_reason: Optional[TranscriptionFailureReason]
    """Null unless `failed`. `no_speech`: no speech was found. `too_short`: less than half a second
    of audio. `quota_exceeded`: the account's audio quota of the day was used up when processing was
    to begin. `internal`: a fault of the service, a link that could not be fetched, or a recording
    that is too long.
    """
    progress: ListedTranscriptionProgress
    """Progress to show to people. Only `status` shows whether processing has ended."""


class TranscriptionPage(TypedDict):
    """Recordings, newest first."""

    data: List[ListedTranscription]
    has_more: bool
    """Whether there is a next page."""
    next_cursor: str
    """Send it as `cursor` for the next page. Empty on the last."""


class _Word(TypedDict):
    text: str
    """The word with its punctuation, without surrounding space."""
    start: float
    """Seconds from the beginning of the recording."""
    end: float
    """Seconds from the beginning of the recording."""
    probability: float
    """How sure the model is of the word, from 0 to 1."""


class Word(_Word, total=False):
    """A word of a segment."""

    calibrated: Literal[False]
    """Present if the model's probabilities are not calibrated, so that no limit for uncertain words
    is known.
    """


class _Segment(TypedDict):
    index: int
    """Position in the transcript, from 0."""
    start: float
    """Seconds from the beginning; it never decreases from one segment to the next."""
    end: float
    """Seconds from the beginning, after `start`."""
    speaker: str
    """Speaker label: A to Z, then AA and so on, in order of first appearance."""
    text: str
    """The text, without surrounding space."""


class Segment(_Segment, total=False):
    """Speech of one speaker without a long pause."""

    words: List[Word]
    """The words in their order. Present only with `words=true`."""


class SegmentPage(TypedDict):
    """Segments in their order."""

    data: List[Segment]
    has_more: bool
    """Whether there is a next page."""
    next_cursor: str
    """Send it as `cursor` for the next page. Empty on the last."""


ExportFormat = Literal[
    "txt",
    "srt",
    "vtt",
    "pdf",
    "docx",
    "json",
    "rttm",
    "csv",
    "textgrid",
    "eaf",
    "tsv",
    "lrc",
]


class Language(TypedDict):
    code: str
    """ISO 639-1, or 639-3 if 639-1 has none."""
    name: str
    """In English."""


class Languages(TypedDict):
    """Sorted by code."""

    data: List[Language]


FileFormat = Literal[
    "txt",
    "srt",
    "vtt",
    "pdf",
    "docx",
    "json",
    "rttm",
    "csv",
    "textgrid",
    "eaf",
    "tsv",
    "lrc",
    "md",
    "ttml",
    "exb",
    "whisper",
    "podcast",
]

TextName = Literal["transcript", "translation"]

SpeakerStyle = Literal["names", "letters", "none"]

ErrorCode = Literal[
    "bad_request",
    "missing_api_key",
    "invalid_api_key",
    "subscription_required",
    "insufficient_scope",
    "account_restricted",
    "guest_account_not_supported",
    "workspace_scope_mismatch",
    "forbidden",
    "not_found",
    "translation_not_found",
    "method_not_allowed",
    "concurrency_limit",
    "idempotency_key_reused",
    "idempotency_request_in_progress",
    "transcription_still_processing",
    "transcription_is_not_ready",
    "file_too_large",
    "validation_failed",
    "uploaded_file_cannot_be_processed",
    "playlist_not_acceptable",
    "rate_limited",
    "internal_error",
    "service_unavailable",
]


class _ErrorEnvelope(TypedDict):
    error: ErrorCode
    """The error code, for programs."""
    message: str
    """The error in words, for people. The wording may change."""


class ErrorEnvelope(_ErrorEnvelope, total=False):
    errors: Dict[str, List[str]]
    """Messages by the name of the field, parameter or header. Only with `validation_failed`."""
    required: str
    """The scope that the route needs. Only with `insufficient_scope`."""
    docs: str
    """URL of this server's documentation. Only with the codes of an account that may not use the
    API.
    """
