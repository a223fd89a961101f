"""Live sessions: words while people speak."""

import random
import threading
import time
from collections import deque
from types import TracebackType
from typing import Deque, Iterator, Mapping, Optional, Type, Union, cast

from ._live_connection import LiveConnection, ServerMessage
from ._live_outbox import Outbox
from ._live_segments import KnownSegments
from ._transport import Transport
from .errors import ApiError, LiveClosedError, NoAnswerError, TranscribeError
from .live_types import LiveEncoding, LiveEnded, LiveEvent, LiveParameters, LiveUpdate

RESUME_SECONDS = 120.0
"""Time for which a server waits for the client of a lost connection."""
RESUME_TIMEOUT = 10.0
"""Seconds for one attempt to resume."""
FIRST_PAUSE = 0.5
MAX_PAUSE = 5.0
FINAL_CODES = (1003, 1007, 1009)
"""Close codes after which a session can't be resumed: the same frames would be wrong again."""
LIMIT_CODE = 1008
"""Close code of a client that exceeds a limit, such as a computer that slept and read no events."""
LIMIT_SECONDS = 60.0
"""Time for which a session is not resumed again after it exceeded a limit."""
MAX_EVENTS = 10_000
"""Events that may wait to be read: those of some hours."""


class LiveSession:
    """A session in which words arrive while people speak: an iterator of events, up to `ended`.

    A lost connection is resumed for two minutes, with the sound that the server lacks. A thread of
    its own receives the events. All methods may be called from any thread.
    """

    def __init__(self, transport: Transport, parameters: LiveParameters, timeout: float) -> None:
        self._transport = transport
        connection = LiveConnection(transport, cast(Mapping[str, object], parameters), timeout)
        started = connection.started
        self.id: str = started["id"]
        self.sample_rate: int = started["sample_rate"]
        self.encoding: LiveEncoding = started["encoding"]
        self._outbox = Outbox(self.encoding, self.sample_rate)
        self._known = KnownSegments()
        self._connection: Optional[LiveConnection] = connection
        self._changed = threading.Condition(threading.RLock())
        """Guards all fields below, the outbox and the connection's sends."""
        self._events: Deque[LiveEvent] = deque()
        self._is_ending = False
        self._is_over = False
        self._failure: Optional[BaseException] = None
        self._ended: Optional[LiveEnded] = None
        self._limited_at = float("-inf")
        with self._changed:
            self._add(_event(started))
        thread = threading.Thread(target=self._run, args=(connection,), daemon=True)
        thread.name = "transcribe-live"
        thread.start()

    def __repr__(self) -> str:
        return f"LiveSession({self.id!r})"

    def __enter__(self) -> "LiveSession":
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.close()

    def send(self, sound: Union[bytes, bytearray, memoryview]) -> None:
        """Sends sound in the session's encoding.

        It waits while the network takes no more. Without a connection, up to two minutes of sound
        are stored. Raises the error that ended the session.
        """
        with self._changed:
            self._require_open()
            self._outbox.add_sound(bytes(sound))
            self._flush()
            self._changed.wait_for(lambda: self._is_over or not self._outbox.is_full)
            if self._failure is not None:
                raise self._failure

    def commit(self) -> None:
        """Ends the turn with the sound so far."""
        self._tell({"type": "commit"})

    def clear(self) -> None:
        """Drops the sound of the turn that has not been committed. It stays in the recording."""
        self._tell({"type": "clear"})

    def update(self, changes: LiveUpdate) -> None:
        """Changes choices from the next turn on."""
        self._tell({**changes, "type": "update"})

    def name_speaker(self, speaker: str, name: str) -> None:
        """Names a speaker by the label, e.g. `S1`, in the recording too."""
        self._tell({"type": "speaker", "speaker": speaker, "name": name})

    def end(self) -> LiveEnded:
        """Ends the session, and waits until all sound has its words.

        The events until then can still be read. Raises the error that ended the session before.
        """
        with self._changed:
            if not self._is_ending and not self._is_over:
                self._tell({"type": "end"})
                self._is_ending = True
            self._changed.wait_for(lambda: self._is_over)
            if self._ended is not None:
                return self._ended
            raise self._failure or TranscribeError("the session was closed")

    def close(self) -> None:
        """Closes the connection without an end of the session.

        The server ends the session two minutes later.
        """
        self._stop(None)

    def receive(self, timeout: Optional[float] = None) -> Optional[LiveEvent]:
        """Returns the next event; None at the end.

        Raises the error that ended the session, and TimeoutError when no event arrives in time.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: self._events or self._is_over, timeout):
                raise TimeoutError("no event arrived in time")
            if self._events:
                return self._events.popleft()
            if self._failure is not None:
                raise self._failure
            return None

    def __iter__(self) -> Iterator[LiveEvent]:
        return self

    def __next__(self) -> LiveEvent:
        event = self.receive()
        if event is None:
            raise StopIteration
        return event

    def _require_open(self) -> None:
        if self._failure is not None:
            raise self._failure
        if self._is_ending or self._is_over:
            raise TranscribeError("the session has ended")

    def _tell(self, message: Mapping[str, object]) -> None:
        with self._changed:
            self._require_open()
            self._outbox.add_message(message)
            self._flush()

    def _flush(self) -> None:
        """Sends what is in the outbox. After a failure, the thread resumes the session."""
        while self._connection is not None:
            frame = self._outbox.next()
            if frame is None:
                return
            try:
                self._connection.send(frame)
            except (TranscribeError, OSError):
                self._connection = None

    def _add(self, event: LiveEvent) -> None:
        """Adds an event. A partial one replaces an earlier one of the same turn."""
        last = self._events[-1] if self._events else None
        if event["type"] == "partial" and last is not None and last["type"] == "partial":
            if last["turn"] == event["turn"]:
                self._events.pop()
        if len(self._events) >= MAX_EVENTS:
            raise TranscribeError("the events of the session are not read")
        self._events.append(event)
        self._changed.notify_all()

    def _run(self, connection: LiveConnection) -> None:
        """Receives messages until the end, in the session's thread."""
        current: Optional[LiveConnection] = connection
        while current is not None:
            try:
                self._take(current.receive())
                if self._is_over:
                    return
            except (LiveClosedError, NoAnswerError, OSError) as error:
                current.close()
                current = self._resume(error)
            except BaseException as error:
                self._stop(error)
                return

    def _take(self, message: ServerMessage) -> None:
        # The server stops: it closes the connection, and the session is resumed when it is back.
        is_pause = message["type"] == "ended" and message["reason"] == "stopping"
        if message["type"] == "session" or is_pause:
            return
        with self._changed:
            self._known.note(message)
            self._add(message)
            if message["type"] == "ended":
                self._ended = message
                self._stop(None)

    def _resume(self, error: BaseException) -> Optional[LiveConnection]:
        """Opens a new connection for the session. Returns None when that is impossible."""
        until = time.monotonic() + RESUME_SECONDS
        pause = FIRST_PAUSE
        with self._changed:
            self._connection = None
            if self._is_over:
                return None
            if not _may_pass(error) or self._exceeds_again(error):
                self._stop(error)
                return None
            self._add({"type": "disconnected"})
        while True:
            try:
                query = {"resume": self.id, "from_segment": self._known.first_wanted}
                return self._continue(LiveConnection(self._transport, query, RESUME_TIMEOUT))
            except BaseException as failure:
                if not _may_pass(failure) or time.monotonic() >= until:
                    self._stop(failure)
                    return None
            jittered = pause * (0.5 + random.random() / 2)
            with self._changed:
                if self._changed.wait_for(lambda: self._is_over, jittered):
                    return None
            pause = min(MAX_PAUSE, pause * 2)

    def _exceeds_again(self, error: BaseException) -> bool:
        """Returns whether a limit was exceeded that may be exceeded once a minute."""
        if not isinstance(error, LiveClosedError) or error.close_code != LIMIT_CODE:
            return False
        before, self._limited_at = self._limited_at, time.monotonic()
        return self._limited_at - before < LIMIT_SECONDS

    def _continue(self, connection: LiveConnection) -> Optional[LiveConnection]:
        started = connection.started
        with self._changed:
            if self._is_over:
                connection.close()
                return None
            if not self._outbox.rewind(started["received_seconds"]):
                connection.close()
                raise TranscribeError("the server lost sound that the client has no more")
            self._add(_event(started))
            for event in self._known.missed_in(started["segments"]):
                self._add(event)
            self._connection = connection
            self._flush()
            self._changed.notify_all()
        return connection

    def _stop(self, failure: Optional[BaseException]) -> None:
        with self._changed:
            if self._is_over:
                return
            self._is_over = True
            self._failure = failure
            connection, self._connection = self._connection, None
            self._changed.notify_all()
        if connection is not None:
            connection.close()


def _may_pass(error: BaseException) -> bool:
    """Returns whether an attempt to resume may succeed later.

    The server may not have noticed yet that the connection is lost.
    """
    if isinstance(error, ApiError):
        return error.status in (409, 429) or error.status >= 500
    if isinstance(error, LiveClosedError):
        return error.close_code not in FINAL_CODES
    return isinstance(error, (NoAnswerError, OSError))


def _event(started: Mapping[str, object]) -> LiveEvent:
    """Returns the first message of a connection as an event."""
    return cast(LiveEvent, {name: value for name, value in started.items() if name != "segments"})
