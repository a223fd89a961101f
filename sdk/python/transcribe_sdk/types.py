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


class Speaker(TypedDict):
    """A speaker of a transcript."""

    speaker: str
    """The letter in segments and exports."""
    name: Optional[str]
    """The name that somebody gave; null for none."""


class Speakers(TypedDict):
    """The speakers of a transcript, in order of first appearance."""

    revision: int
    """Number of the latest revision of the transcript; 0 as it was recognized. Send it as
    `If-Match: "N"`.
    """
    data: List[Speaker]


class SpeakerNames(TypedDict):
    """Names of speakers."""

    names: Dict[str, Optional[str]]
    """Names by the letters of speakers; null and an empty name remove one. Speakers that are not
    mentioned keep theirs.
    """


class SpeakerMerge(TypedDict):
    """Two speakers who are the same person."""

    speaker: str
    """The speaker who disappears."""
    into: str
    """The speaker who gets the segments."""


class Corrected(TypedDict):
    """The latest revision after a change."""

    revision: int
    """Number of the latest revision of the transcript; 0 as it was recognized. Send it as
    `If-Match: "N"`.
    """


class _SegmentCorrection(TypedDict):
    index: int
    """The segment's `index`, in the revision of `If-Match`."""


class SegmentCorrection(_SegmentCorrection, total=False):
    """A new text or another speaker of a segment, or both."""

    text: str
    """The new text. An empty one removes the segment. Words keep their times as far as possible."""
    speaker: str
    """The speaker, who is certain from then on. `new`: one more speaker, the same in the whole
    request.
    """


class Corrections(TypedDict):
    """Corrections of segments, which become one revision."""

    corrections: List[SegmentCorrection]
    """Corrections of 1 to 100 segments, each once. All are made, or none."""


RevisionAction = Literal[
    "text",
    "delete",
    "split",
    "merge",
    "assign",
    "merge_speakers",
    "replace",
    "revert",
    "redo",
    "restore",
    "process",
    "respell",
]


class Revision(TypedDict):
    """A revision of a transcript."""

    number: int
    """Numbers increase, and some are missing: typing continues a revision."""
    author: str
    """A person, a key (`the key NAME`), or `the operator`."""
    at: str
    """Time of the revision."""
    action: RevisionAction
    """What was done; `process`: the recording was processed again."""
    segments: int
    """Number of segments that it changed."""


class RevisionPage(TypedDict):
    """The stored revisions of a transcript, newest first, and the number of the latest."""

    data: List[Revision]
    has_more: bool
    """Whether there is a next page."""
    next_cursor: str
    """Send it as `cursor` for the next page. Empty on the last."""
    revision: int
    """Number of the latest revision of the transcript; 0 as it was recognized. Send it as
    `If-Match: "N"`.
    """


class RevisionSegments(TypedDict):
    """Segments of the transcript as it was after a revision."""

    data: List[Segment]
    has_more: bool
    """Whether there is a next page."""
    next_cursor: str
    """Send it as `cursor` for the next page. Empty on the last."""
    revision: int
    """Number of this revision."""


class ComparedSegment(TypedDict):
    """A segment in a comparison."""

    start: float
    """Seconds from the beginning."""
    speaker: str
    """Letter of the speaker, in the order of this revision's speakers."""
    text: str


class Difference(TypedDict):
    """A part of a transcript that differs."""

    index: int
    """Index in the later transcript."""
    before: List[ComparedSegment]
    """The segments after the revision."""
    after: List[ComparedSegment]
    """The segments in the later transcript."""


class Comparison(TypedDict):
    """Differences between the transcript after a revision and a later one."""

    data: List[Difference]
    total: int
    """Number of differences in the whole transcript."""
    has_more: bool
    """Whether there is a next page."""
    next_cursor: str
    """Send it as `cursor` for the next page. Empty on the last."""
    revision: int
    """Number of the latest revision of the transcript; 0 as it was recognized. Send it as
    `If-Match: "N"`.
    """


class ProcessAgain(TypedDict, total=False):
    """Choices for processing a recording again."""

    model: str
    """Id of an installed model, as in `GET /v1/models`. By default the model in use."""
    language: Optional[str]
    """Code of a language of the model; null detects it. By default the language that was sent with
    the recording.
    """
    prompt: str
    """Names and terms, as in a create. An empty prompt is none. By default as in the create."""
    task: Task
    """`translate` for an English translation as well, `transcribe` for none. By default as before.
    """
    speakers: int
    """a whole number from 1 to 50"""
    min_speakers: int
    """a whole number from 1 to 50"""
    max_speakers: int
    """a whole number from 1 to 50"""


ProcessingProcessingStatus = Literal["queued", "processing", "failed"]


class ProcessingProcessing(TypedDict):
    """Null if the recording is not processed again, or has been."""

    status: ProcessingProcessingStatus
    progress: TranscriptionProgress
    """Progress to show to people. Only `status` shows whether processing has ended."""
    failure_reason: Optional[TranscriptionFailureReason]
    """Null unless `failed`. `no_speech`: no speech was found. `too_short`: less than half a second
    of audio. `quota_exceeded`: the account's audio quota of the day was used up when processing was
    to begin. `internal`: a fault of the service, a link that could not be fetched, or a recording
    that is too long.
    """
    created_at: str


class Processing(TypedDict):
    """Whether a recording is processed again."""

    processing: Optional[ProcessingProcessing]
    """Null if the recording is not processed again, or has been."""


class Voice(TypedDict):
    """A voice that the account remembers."""

    id: str
    name: str
    """The name that is proposed for speakers with this voice."""
    created_at: str
    recordings: int
    """Number of recordings that it is compared by."""
    seconds: float
    """Seconds of clean speech in them."""


class Voices(TypedDict):
    """The voices that the account remembers."""

    enabled: bool
    """Whether the account remembers voices; the operator decides this."""
    data: List[Voice]
    """Sorted by name."""


class VoiceName(TypedDict):
    """A name of a voice."""

    name: str
    """A name that no other voice of the account has."""


class Tags(TypedDict):
    """The tags of a recording."""

    tags: List[str]
    """At most 20 tags of 1 to 50 characters, without commas. Upper and lower case differ. Answers
    have each once, sorted.
    """


class Mark(TypedDict):
    """A part of a text, in UTF-16 code units."""

    start: int
    end: int


class Hit(TypedDict):
    """A segment that has the searched words."""

    index: int
    """Index of the segment."""
    start: float
    """Seconds from the beginning."""
    text: str
    """The segment's text around the first match; `…` marks omitted text."""
    marks: List[Mark]
    """The matches in `text`."""


class FoundTranscription(TypedDict):
    """A recording whose transcript or name has the searched words."""

    transcription: ListedTranscription
    tags: List[str]
    hits: List[Hit]
    """The first three segments; none if only the recording's name matches."""
    has_more_hits: bool
    """Whether more segments match."""


class FoundPage(TypedDict):
    """Recordings that match, newest first."""

    data: List[FoundTranscription]
    has_more: bool
    """Whether there is a next page."""
    next_cursor: str
    """Send it as `cursor` for the next page. Empty on the last."""
    is_partial: bool
    """Whether recordings are still being added to the index, so that a later search may find more.
    """


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
    "transcription_has_ended",
    "audio_not_stored",
    "precondition_failed",
    "file_too_large",
    "validation_failed",
    "uploaded_file_cannot_be_processed",
    "playlist_not_acceptable",
    "precondition_required",
    "rate_limited",
    "internal_error",
    "service_unavailable",
]


class Splice(TypedDict):
    index: int
    """Where the segments begin, after the splices before this one."""
    removed: int
    """Number of segments that are gone."""
    segments: List[Segment]
    """The segments in their place."""


class LaterChanges(TypedDict):
    """What others have changed since the revision of `If-Match`."""

    revision: int
    """Number of the latest revision of the transcript; 0 as it was recognized. Send it as
    `If-Match: "N"`.
    """
    authors: List[str]
    """Names of those who changed the transcript."""
    splices: Optional[List[Splice]]
    """The changes, to apply one after the other. Null if they are many: read the transcript again.
    """


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
    changes: LaterChanges
