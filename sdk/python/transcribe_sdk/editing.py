"""Changes of recordings and transcripts, beyond version 1 of the API."""

import uuid
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, cast

from ._transport import NO_STOP, Request, Transport
from .operations import Operations
from .types import (
    Difference,
    FoundTranscription,
    ListedTranscription,
    ProcessAgain,
    Processing,
    Revision,
    Segment,
    SegmentCorrection,
    Speakers,
    Transcription,
    TranscriptionPage,
)

MAX_PAGE_SIZE = 100
MAX_SEGMENT_PAGE_SIZE = 1000


class Editing:
    """Changes of recordings and transcripts. The key needs the scope `transcriptions:edit`.

    All attempts of a change have the same Idempotency-Key, so that it is made once.
    """

    def __init__(self, operations: Operations, transport: Transport) -> None:
        self._operations = operations
        self._transport = transport

    def cancel(self, id: str) -> Transcription:
        """Cancels a queued or processing recording, which is then `failed`.

        Of a completed recording that is being processed again, only that is cancelled.
        """
        return self._operations.cancel_transcription(id, idempotency_key=_key())

    def speakers(self, id: str) -> Speakers:
        """Returns the speakers of a transcript with their names, and the latest revision."""
        return self._operations.list_speakers(id)

    def name_speakers(self, id: str, names: Dict[str, Optional[str]]) -> Speakers:
        """Names speakers, by their letters; None removes a name."""
        return self._operations.name_speakers(id, {"names": names})

    def merge_speakers(self, id: str, revision: int, *, speaker: str, into: str) -> int:
        """Assigns all segments of a speaker to another one.

        revision: The latest revision that the program has read.

        Returns the latest revision. Raises ApiError with `precondition_failed` and `changes` if
        others have changed the transcript since.
        """
        answer = self._operations.merge_speakers(
            id,
            {"speaker": speaker, "into": into},
            if_match=_tag(revision),
            idempotency_key=_key(),
        )
        return answer["revision"]

    def correct(self, id: str, revision: int, corrections: Sequence[SegmentCorrection]) -> int:
        """Corrects up to 100 segments as one revision.

        revision: The latest revision, of which the segments were read.

        Returns the latest revision. Raises ApiError with `precondition_failed` and `changes` if
        others have changed the transcript since.
        """
        answer = self._operations.correct_segments(
            id,
            {"corrections": list(corrections)},
            if_match=_tag(revision),
            idempotency_key=_key(),
        )
        return answer["revision"]

    def latest_revision(self, id: str) -> int:
        """Returns the number of the latest revision; 0 if nobody has corrected the transcript."""
        return self._operations.list_revisions(id, limit=1)["revision"]

    def revisions(self, id: str) -> Iterator[Revision]:
        """Returns the revisions of a transcript, newest first, page by page."""
        return _all_of(
            lambda cursor: self._operations.list_revisions(id, limit=MAX_PAGE_SIZE, cursor=cursor)
        )

    def segments_after(self, id: str, revision: int) -> Iterator[Segment]:
        """Returns the transcript as it was after a revision, or as recognized (0)."""
        return _all_of(
            lambda cursor: self._operations.get_revision(
                id, revision, limit=MAX_SEGMENT_PAGE_SIZE, cursor=cursor
            )
        )

    def differences(
        self, id: str, revision: int, *, other: Optional[int] = None
    ) -> Iterator[Difference]:
        """Returns the differences between the transcripts after a revision and after `other`.

        other: By default the latest revision.
        """
        return _all_of(
            lambda cursor: self._operations.compare_revision(
                id, revision, limit=MAX_SEGMENT_PAGE_SIZE, cursor=cursor, other=other
            )
        )

    def restore(self, id: str, revision: int, latest: int) -> int:
        """Restores the transcript as it was after a revision, or as recognized (0).

        latest: The latest revision that the program has read.

        Returns the latest revision.
        """
        answer = self._operations.restore_revision(
            id, revision, if_match=_tag(latest), idempotency_key=_key()
        )
        return answer["revision"]

    def process_again(self, id: str, choices: Optional[ProcessAgain] = None) -> Processing:
        """Processes a completed recording again.

        When that is done, the transcript has another revision.
        """
        return self._operations.process_again(id, choices or {}, idempotency_key=_key())

    def processing(self, id: str) -> Processing:
        """Returns whether a recording is being processed again, or that has failed."""
        return self._operations.get_processing(id)

    def tags(self, id: str) -> List[str]:
        """Returns the tags of a recording."""
        return self._operations.get_tags(id)["tags"]

    def set_tags(self, id: str, tags: Sequence[str]) -> List[str]:
        """Replaces all tags of a recording."""
        return self._operations.set_tags(id, {"tags": list(tags)})["tags"]

    def tagged(self, tag: str, *, status: Optional[str] = None) -> Iterator[ListedTranscription]:
        """Returns the transcriptions with a tag, newest first, page by page."""

        def page(cursor: Optional[str]) -> TranscriptionPage:
            query = {"tag": tag, "status": status, "cursor": cursor, "limit": MAX_PAGE_SIZE}
            request = Request(method="GET", path="/transcriptions", query=query)
            return cast(TranscriptionPage, self._transport.json(request, NO_STOP))

        return _all_of(page)

    def search(
        self, q: str, *, tag: Optional[str] = None, status: Optional[str] = None
    ) -> Iterator[FoundTranscription]:
        """Returns the transcriptions whose transcript or name has the words, newest first."""
        return _all_of(
            lambda cursor: self._operations.search_transcriptions(
                q=q, tag=tag, status=status, limit=MAX_PAGE_SIZE, cursor=cursor
            )
        )


def _all_of(fetch_page: Callable[[Optional[str]], Any]) -> Iterator[Any]:
    cursor: Optional[str] = None
    while True:
        page = fetch_page(cursor)
        yield from page["data"]
        if not page["has_more"] or not page["data"]:
            return
        cursor = page["next_cursor"]


def _tag(revision: int) -> str:
    return f'"{revision}"'


def _key() -> str:
    return str(uuid.uuid4())
