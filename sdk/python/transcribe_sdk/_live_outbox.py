"""What a live session sends."""

import json
from collections import deque
from typing import Deque, List, Mapping, NamedTuple, Optional, Union

from .live_types import LiveEncoding

SAMPLE_BYTES: Mapping[LiveEncoding, int] = {"pcm16": 2, "float32": 4, "mulaw": 1, "alaw": 1}
FRAME_BYTES = 64 * 1024
"""Maximum size of a frame."""
UNSENT_SECONDS = 150
"""Sound that may wait: that of two minutes without a connection, and until the loss is noticed."""
SENT_BYTES = 8 * 1024 * 1024
"""Sound that is kept after it was sent: more than the buffers of both machines hold."""
SENT_SECONDS = 60

Frame = Union[str, bytes]


class _Entry(NamedTuple):
    """A frame to send. Positions are bytes of sound from the start of the session."""

    data: Frame
    start: int
    end: int


class Outbox:
    """Sound and messages in their order.

    Both are kept after they were sent, because a lost connection may have lost them; the oldest
    are dropped.
    """

    def __init__(self, encoding: LiveEncoding, sample_rate: int) -> None:
        self._sample_bytes = SAMPLE_BYTES[encoding]
        self._bytes_per_second = sample_rate * self._sample_bytes
        self._sent: Deque[_Entry] = deque()
        self._unsent: Deque[_Entry] = deque()
        self._end = 0
        self._rest = b""
        """The first bytes of a sample whose rest has not arrived."""

    @property
    def is_full(self) -> bool:
        """Whether no more sound should be added until some of it was sent."""
        waiting = self._end - self._unsent[0].start if self._unsent else 0
        return waiting > UNSENT_SECONDS * self._bytes_per_second

    def add_sound(self, sound: bytes) -> None:
        """Adds sound. Incomplete samples wait for their rest."""
        sound = self._rest + sound
        whole = len(sound) - len(sound) % self._sample_bytes
        self._rest = sound[whole:]
        for at in range(0, whole, FRAME_BYTES):
            data = sound[at : min(at + FRAME_BYTES, whole)]
            self._unsent.append(_Entry(data, self._end, self._end + len(data)))
            self._end += len(data)

    def add_message(self, message: Mapping[str, object]) -> None:
        """Adds a message at this point of the sound."""
        self._unsent.append(_Entry(json.dumps(message), self._end, self._end))

    def next(self) -> Optional[Frame]:
        """Returns the next frame to send, or None.

        Waiting sound is joined, because servers limit the rate of frames.
        """
        if not self._unsent:
            return None
        entry = self._unsent.popleft()
        if isinstance(entry.data, bytes):
            entry = self._joined(entry, entry.data)
        self._sent.append(entry)
        kept = max(SENT_BYTES, SENT_SECONDS * self._bytes_per_second)
        while len(self._sent) > 1 and entry.end - self._sent[0].end > kept:
            self._sent.popleft()
        return entry.data

    def _joined(self, first: _Entry, data: bytes) -> _Entry:
        """Joins sound with the waiting sound that follows it."""
        parts = [data]
        end = first.end
        while self._unsent:
            following = self._unsent[0]
            if not isinstance(following.data, bytes) or following.end - first.start > FRAME_BYTES:
                break
            parts.append(following.data)
            end = following.end
            self._unsent.popleft()
        return _Entry(b"".join(parts), first.start, end)

    def rewind(self, received_seconds: float) -> bool:
        """Returns to the first frame that the server may lack.

        A message at the end of the received sound may have arrived; it is sent again, because all
        messages may be repeated. Returns False if sound that the server lacks was dropped.
        """
        size = self._sample_bytes
        received = round(received_seconds * self._bytes_per_second / size) * size
        lacking: List[_Entry] = []
        while self._sent:
            entry = self._sent[-1]
            is_message = entry.start == entry.end
            if entry.start < received if is_message else entry.end <= received:
                break
            lacking.append(self._sent.pop())
        self._unsent.extendleft(lacking)
        if not self._unsent:
            return True
        first = self._unsent[0]
        if isinstance(first.data, bytes) and first.start < received:
            split = received - first.start
            self._sent.append(_Entry(first.data[:split], first.start, received))
            self._unsent[0] = _Entry(first.data[split:], received, first.end)
        return self._unsent[0].start <= received
