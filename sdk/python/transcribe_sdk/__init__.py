"""Client of the Transcribe API: recordings in, speaker-labelled transcripts out."""

from ._recording_file import RecordingFile as RecordingFile
from ._transport import Download as Download
from .client import Client as Client
from .client import Transcript as Transcript
from .editing import Editing as Editing
from .errors import (
    ApiError as ApiError,
    BadAnswerError as BadAnswerError,
    CancelledError as CancelledError,
    LiveClosedError as LiveClosedError,
    NoAnswerError as NoAnswerError,
    StillProcessingError as StillProcessingError,
    TranscribeError as TranscribeError,
    TranscriptionFailedError as TranscriptionFailedError,
)
from .live import LiveSession as LiveSession
from .live_types import (
    LiveEncoding as LiveEncoding,
    LiveEnded as LiveEnded,
    LiveEndReason as LiveEndReason,
    LiveEvent as LiveEvent,
    LiveParameters as LiveParameters,
    LiveSegment as LiveSegment,
    LiveUpdate as LiveUpdate,
)
from .types import *  # noqa: F403
from .types import VERSION as __version__  # noqa: F401
