"""The events of live sessions. Times are seconds from the start of the session."""

from typing import List, Literal, Optional, TypedDict, Union

from .types import Word

LiveEncoding = Literal["pcm16", "float32", "mulaw", "alaw"]
"""Encodings of sound: one channel, little-endian; `mulaw` and `alaw` are G.711."""

LiveEndReason = Literal[
    "client",
    "disconnected",
    "idle",
    "too_long",
    "audio_used_up",
    "access",
    "disk_full",
    "engine",
    "stopping",
]
"""Why a session ended. After `stopping`, the client resumes it when the server is back."""


class LiveTurnOptions(TypedDict, total=False):
    """How turns end."""

    turns: Literal["auto", "manual"]
    """`auto` (default): speech detection ends turns. `manual`: only `commit` does."""
    threshold: float
    """Probability from which sound counts as speech, 0 to 1."""
    padding_ms: int
    """Milliseconds before the detected start of a turn that belong to it."""
    silence_ms: int
    """Milliseconds of silence that end a turn."""


class LiveParameters(LiveTurnOptions, total=False):
    """Choices for a session."""

    sample_rate: int
    """Samples per second, from 8000 to 48000. Default: 16000."""
    encoding: LiveEncoding
    """Default: `pcm16`."""
    language: str
    """Code of `GET /languages`. If omitted, the language is detected."""
    prompt: str
    """Names and terms to expect, separated by commas or line ends."""
    keep: bool
    """Whether the session becomes a recording when it ends. Default: True.

    Otherwise nothing of it is kept.
    """
    name: str
    """Name of the recording."""


class LiveUpdate(LiveTurnOptions, total=False):
    """Choices that may change from the next turn on."""

    language: Optional[str]
    """None for language detection."""
    prompt: Optional[str]
    """None for none."""


class LiveSegment(TypedDict):
    """Words that do not change any more."""

    number: int
    """Position in the session, from 0."""
    start: float
    end: float
    text: str
    speaker: Optional[str]
    """Label such as `S1`; None while it is not known, see the event `speakers`."""
    words: List[Word]


class LiveStarted(TypedDict):
    """The session is open, or was resumed."""

    type: Literal["session"]
    id: str
    sample_rate: int
    encoding: LiveEncoding
    language: Optional[str]
    """The pinned language; None for language detection."""
    keep: bool
    received_seconds: float
    """Duration of the sound that the server has."""


class SessionMessage(LiveStarted):
    """The first message of each connection."""

    segments: List[LiveSegment]
    """After a resume: the final segments that the client lacks."""


class LiveSpeech(TypedDict):
    """Somebody begins or stops to speak."""

    type: Literal["speech_started", "speech_stopped"]
    turn: str
    seconds: float


class LiveCommitted(TypedDict):
    """The turn has no more sound."""

    type: Literal["committed"]
    turn: str
    previous_turn: Optional[str]


class LiveCleared(TypedDict):
    """The sound of the turn was dropped."""

    type: Literal["cleared"]


class LivePartial(TypedDict):
    """Words after the final ones of the turn, which may change.

    They replace the previous partial ones.
    """

    type: Literal["partial"]
    turn: str
    text: str
    words: List[Word]


class LiveFinal(TypedDict):
    """Words that do not change any more."""

    type: Literal["final"]
    turn: Optional[str]
    """None if they were recognized while the connection was lost."""
    segment: LiveSegment


class LiveTurnCompleted(TypedDict):
    """All words of a turn are final."""

    type: Literal["turn_completed"]
    turn: str
    text: str
    seconds: float
    """Duration of the turn's sound."""
    language: Optional[str]
    """None when nobody spoke."""


class LiveTurnFailed(TypedDict):
    """A turn could not be recognized. The session continues."""

    type: Literal["turn_failed"]
    turn: str


class LiveSpeaker(TypedDict):
    """The speaker of a segment."""

    segment: int
    speaker: str


class LiveSpeakers(TypedDict):
    """Speakers of earlier segments, by the segments' numbers."""

    type: Literal["speakers"]
    speakers: List[LiveSpeaker]


class LiveProblem(TypedDict):
    """A message was refused. The session continues."""

    type: Literal["error"]
    error: str
    message: str


class LiveDisconnected(TypedDict):
    """The connection was lost. The client resumes the session; the next event is `session`."""

    type: Literal["disconnected"]


class LiveEnded(TypedDict):
    """The last event."""

    type: Literal["ended"]
    reason: LiveEndReason
    recording_id: Optional[str]
    """Id of the recording that the session has become; None if it is not kept."""


LiveEvent = Union[
    LiveStarted,
    LiveSpeech,
    LiveCommitted,
    LiveCleared,
    LivePartial,
    LiveFinal,
    LiveTurnCompleted,
    LiveTurnFailed,
    LiveSpeakers,
    LiveProblem,
    LiveDisconnected,
    LiveEnded,
]
"""An event of a session."""
