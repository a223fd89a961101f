"""The final segments that the client of a live session has."""

from typing import List, Sequence, Set

from .live_types import LiveEvent, LiveSegment, LiveSpeaker


class KnownSegments:
    """Numbers of final segments, so that after a resume the client gets each of them once.

    Segments whose speaker is not known are requested again, because the event with their speakers
    may be lost.
    """

    def __init__(self) -> None:
        self._next = 0
        self._without_speaker: Set[int] = set()

    @property
    def first_wanted(self) -> int:
        """Number of the first segment to request after a lost connection."""
        return min([self._next, *self._without_speaker])

    def note(self, event: LiveEvent) -> None:
        """Notes what an event says about segments."""
        if event["type"] == "final":
            self._add(event["segment"])
        elif event["type"] == "speakers":
            self._without_speaker.difference_update(each["segment"] for each in event["speakers"])

    def missed_in(self, segments: Sequence[LiveSegment]) -> List[LiveEvent]:
        """Returns the events that a lost connection kept from the client."""
        speakers: List[LiveSpeaker] = []
        missed: List[LiveEvent] = []
        for segment in segments:
            number, speaker = segment["number"], segment["speaker"]
            if speaker is not None and number in self._without_speaker:
                self._without_speaker.discard(number)
                speakers.append({"segment": number, "speaker": speaker})
            if number >= self._next:
                self._add(segment)
                missed.append({"type": "final", "turn": None, "segment": segment})
        return [{"type": "speakers", "speakers": speakers}, *missed] if speakers else missed

    def _add(self, segment: LiveSegment) -> None:
        self._next = max(self._next, segment["number"] + 1)
        if segment["speaker"] is None:
            self._without_speaker.add(segment["number"])
