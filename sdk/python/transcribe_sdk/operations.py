# scripts/sdk generates this file from the API's OpenAPI document.
"""The operations of the API, one request each."""

from typing import Optional, cast
from urllib.parse import quote

from ._transport import NO_STOP, Download, Request, Stop, Transport
from .types import (
    Comparison,
    Corrected,
    Corrections,
    ExportFormat,
    FileFormat,
    FoundPage,
    Languages,
    ProcessAgain,
    Processing,
    RevisionPage,
    RevisionSegments,
    SegmentPage,
    SpeakerMerge,
    SpeakerNames,
    SpeakerStyle,
    Speakers,
    Tags,
    TextName,
    Transcription,
    TranscriptionForm,
    TranscriptionPage,
    VoiceName,
    Voices,
)


class Operations:
    """The operations of the API, one request each."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def create_transcription(
        self,
        form: TranscriptionForm,
        *,
        idempotency_key: Optional[str] = None,
        content_digest: Optional[str] = None,
        request_id: Optional[str] = None,
        stop: Stop = NO_STOP,
    ) -> Transcription:
        """Send a recording.

        idempotency_key: Identifies this create, so that it is executed once however often it is
        sent: 1 to 255 visible ASCII characters, such as a new UUID. Send one, and repeat it with
        every retry.
        content_digest: Digest of the whole body (RFC 9530), sha-256 or sha-512. A body that does
        not match it is refused with `uploaded_file_cannot_be_processed`. At most 16 digests in
        2,048 characters; the last digest of an algorithm counts.
        request_id: Your own id for this request: 1 to 128 characters of A–Z a–z 0–9 . _ : -.
        Anything else is replaced by a new id.
        Error codes: `bad_request`, `missing_api_key`, `invalid_api_key`, `subscription_required`,
        `account_restricted`, `guest_account_not_supported`, `insufficient_scope`, `not_found`,
        `method_not_allowed`, `concurrency_limit`, `idempotency_key_reused`,
        `idempotency_request_in_progress`, `file_too_large`, `validation_failed`,
        `uploaded_file_cannot_be_processed`, `playlist_not_acceptable`, `rate_limited`,
        `internal_error`, `service_unavailable`.
        """
        request = Request(
            method="POST",
            path="/transcriptions",
            headers={
                "Idempotency-Key": idempotency_key,
                "Content-Digest": content_digest,
                "X-Request-Id": request_id,
            },
            form=form,
        )
        return cast(Transcription, self._transport.json(request, stop))

    def list_transcriptions(
        self,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        status: Optional[str] = None,
        created_after: Optional[str] = None,
        created_before: Optional[str] = None,
        request_id: Optional[str] = None,
        stop: Stop = NO_STOP,
    ) -> TranscriptionPage:
        """List recordings.

        limit: Maximum number of entries in a page. Very long ones are fewer: a page holds 2 MiB.
        cursor: The unchanged `next_cursor` of the previous page; omitted for the first page. It is
        opaque.
        status: Only recordings with this status: one of `queued`, `processing`, `completed`,
        `failed`, or several separated by commas.
        created_after: Only recordings created later than this. An ISO 8601 time. A date without a
        time means its first moment; without an offset it is UTC.
        created_before: Only recordings created earlier than this. An ISO 8601 time. A date without
        a time means its first moment; without an offset it is UTC.
        request_id: Your own id for this request: 1 to 128 characters of A–Z a–z 0–9 . _ : -.
        Anything else is replaced by a new id.
        Error codes: `missing_api_key`, `invalid_api_key`, `subscription_required`,
        `account_restricted`, `guest_account_not_supported`, `insufficient_scope`,
        `method_not_allowed`, `validation_failed`, `rate_limited`, `internal_error`.
        """
        request = Request(
            method="GET",
            path="/transcriptions",
            query={
                "limit": limit,
                "cursor": cursor,
                "status": status,
                "created_after": created_after,
                "created_before": created_before,
            },
            headers={
                "X-Request-Id": request_id,
            },
        )
        return cast(TranscriptionPage, self._transport.json(request, stop))

    def get_transcription(
        self,
        id: str,
        *,
        request_id: Optional[str] = None,
        stop: Stop = NO_STOP,
    ) -> Transcription:
        """Get a recording.

        request_id: Your own id for this request: 1 to 128 characters of A–Z a–z 0–9 . _ : -.
        Anything else is replaced by a new id.
        Error codes: `missing_api_key`, `invalid_api_key`, `subscription_required`,
        `account_restricted`, `guest_account_not_supported`, `insufficient_scope`,
        `workspace_scope_mismatch`, `not_found`, `method_not_allowed`, `rate_limited`,
        `internal_error`.
        """
        request = Request(
            method="GET",
            path=f"/transcriptions/{quote(str(id), safe='')}",
            headers={
                "X-Request-Id": request_id,
            },
        )
        return cast(Transcription, self._transport.json(request, stop))

    def delete_transcription(
        self,
        id: str,
        *,
        request_id: Optional[str] = None,
        stop: Stop = NO_STOP,
    ) -> None:
        """Delete a recording.

        request_id: Your own id for this request: 1 to 128 characters of A–Z a–z 0–9 . _ : -.
        Anything else is replaced by a new id.
        Error codes: `missing_api_key`, `invalid_api_key`, `subscription_required`,
        `account_restricted`, `guest_account_not_supported`, `insufficient_scope`,
        `workspace_scope_mismatch`, `forbidden`, `not_found`, `method_not_allowed`,
        `transcription_still_processing`, `rate_limited`, `internal_error`.
        """
        request = Request(
            method="DELETE",
            path=f"/transcriptions/{quote(str(id), safe='')}",
            headers={
                "X-Request-Id": request_id,
            },
        )
        self._transport.nothing(request, stop)

    def list_segments(
        self,
        id: str,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        words: Optional[bool] = None,
        request_id: Optional[str] = None,
        stop: Stop = NO_STOP,
    ) -> SegmentPage:
        """Read the transcript.

        limit: Maximum number of entries in a page. Very long ones are fewer: a page holds 2 MiB.
        cursor: The unchanged `next_cursor` of the previous page; omitted for the first page. It is
        opaque.
        words: Whether each segment also has its words with their times.
        request_id: Your own id for this request: 1 to 128 characters of A–Z a–z 0–9 . _ : -.
        Anything else is replaced by a new id.
        Error codes: `missing_api_key`, `invalid_api_key`, `subscription_required`,
        `account_restricted`, `guest_account_not_supported`, `insufficient_scope`,
        `workspace_scope_mismatch`, `not_found`, `method_not_allowed`, `transcription_is_not_ready`,
        `validation_failed`, `rate_limited`, `internal_error`.
        """
        request = Request(
            method="GET",
            path=f"/transcriptions/{quote(str(id), safe='')}/segments",
            query={
                "limit": limit,
                "cursor": cursor,
                "words": words,
            },
            headers={
                "X-Request-Id": request_id,
            },
        )
        return cast(SegmentPage, self._transport.json(request, stop))

    def export_transcription(
        self,
        id: str,
        *,
        format: ExportFormat,
        if_none_match: Optional[str] = None,
        request_id: Optional[str] = None,
        stop: Stop = NO_STOP,
    ) -> Download:
        """Download the transcript.

        format: The format of the file.
        if_none_match: `ETag` of a stored export. If it is still current, the answer is 304 without
        a body.
        request_id: Your own id for this request: 1 to 128 characters of A–Z a–z 0–9 . _ : -.
        Anything else is replaced by a new id.
        Error codes: `missing_api_key`, `invalid_api_key`, `subscription_required`,
        `account_restricted`, `guest_account_not_supported`, `insufficient_scope`,
        `workspace_scope_mismatch`, `not_found`, `method_not_allowed`, `transcription_is_not_ready`,
        `validation_failed`, `rate_limited`, `internal_error`.
        """
        request = Request(
            method="GET",
            path=f"/transcriptions/{quote(str(id), safe='')}/export",
            query={
                "format": format,
            },
            headers={
                "If-None-Match": if_none_match,
                "X-Request-Id": request_id,
            },
        )
        return self._transport.file(request, stop)

    def list_languages(
        self,
        *,
        request_id: Optional[str] = None,
        stop: Stop = NO_STOP,
    ) -> Languages:
        """List languages.

        request_id: Your own id for this request: 1 to 128 characters of A–Z a–z 0–9 . _ : -.
        Anything else is replaced by a new id.
        Error codes: `missing_api_key`, `invalid_api_key`, `subscription_required`,
        `account_restricted`, `guest_account_not_supported`, `method_not_allowed`, `rate_limited`,
        `internal_error`.
        """
        request = Request(
            method="GET",
            path="/languages",
            headers={
                "X-Request-Id": request_id,
            },
        )
        return cast(Languages, self._transport.json(request, stop))

    def cancel_transcription(
        self,
        id: str,
        *,
        idempotency_key: Optional[str] = None,
        request_id: Optional[str] = None,
        stop: Stop = NO_STOP,
    ) -> Transcription:
        """Cancel a recording.

        idempotency_key: Identifies this request, so that it is executed once however often it is
        sent, as in a create: the first answer is stored for 24 hours. 1 to 255 visible ASCII
        characters.
        request_id: Your own id for this request: 1 to 128 characters of A–Z a–z 0–9 . _ : -.
        Anything else is replaced by a new id.
        Error codes: `bad_request`, `missing_api_key`, `invalid_api_key`, `subscription_required`,
        `account_restricted`, `guest_account_not_supported`, `insufficient_scope`,
        `workspace_scope_mismatch`, `not_found`, `method_not_allowed`, `transcription_has_ended`,
        `idempotency_key_reused`, `idempotency_request_in_progress`, `file_too_large`,
        `validation_failed`, `rate_limited`, `internal_error`.
        """
        request = Request(
            method="POST",
            path=f"/transcriptions/{quote(str(id), safe='')}/cancel",
            headers={
                "Idempotency-Key": idempotency_key,
                "X-Request-Id": request_id,
            },
        )
        return cast(Transcription, self._transport.json(request, stop))

    def list_speakers(
        self,
        id: str,
        *,
        request_id: Optional[str] = None,
        stop: Stop = NO_STOP,
    ) -> Speakers:
        """List the speakers.

        request_id: Your own id for this request: 1 to 128 characters of A–Z a–z 0–9 . _ : -.
        Anything else is replaced by a new id.
        Error codes: `missing_api_key`, `invalid_api_key`, `subscription_required`,
        `account_restricted`, `guest_account_not_supported`, `insufficient_scope`,
        `workspace_scope_mismatch`, `not_found`, `method_not_allowed`, `transcription_is_not_ready`,
        `rate_limited`, `internal_error`.
        """
        request = Request(
            method="GET",
            path=f"/transcriptions/{quote(str(id), safe='')}/speakers",
            headers={
                "X-Request-Id": request_id,
            },
        )
        return cast(Speakers, self._transport.json(request, stop))

    def name_speakers(
        self,
        id: str,
        body: SpeakerNames,
        *,
        if_match: Optional[str] = None,
        request_id: Optional[str] = None,
        stop: Stop = NO_STOP,
    ) -> Speakers:
        """Name speakers.

        if_match: ETag of the revision that you have read. If the transcript has another one by now,
        the answer is 412.
        request_id: Your own id for this request: 1 to 128 characters of A–Z a–z 0–9 . _ : -.
        Anything else is replaced by a new id.
        Error codes: `bad_request`, `missing_api_key`, `invalid_api_key`, `subscription_required`,
        `account_restricted`, `guest_account_not_supported`, `insufficient_scope`,
        `workspace_scope_mismatch`, `not_found`, `method_not_allowed`, `transcription_is_not_ready`,
        `precondition_failed`, `file_too_large`, `validation_failed`, `rate_limited`,
        `internal_error`.
        """
        request = Request(
            method="PATCH",
            path=f"/transcriptions/{quote(str(id), safe='')}/speakers",
            headers={
                "If-Match": if_match,
                "X-Request-Id": request_id,
            },
            body=body,
        )
        return cast(Speakers, self._transport.json(request, stop))

    def merge_speakers(
        self,
        id: str,
        body: SpeakerMerge,
        *,
        if_match: Optional[str] = None,
        idempotency_key: Optional[str] = None,
        request_id: Optional[str] = None,
        stop: Stop = NO_STOP,
    ) -> Corrected:
        """Merge two speakers.

        if_match: ETag of the revision that you have read: its number in quotes. If the transcript
        has another one by now, the answer is 412 with what was changed. Without it, 428.
        idempotency_key: Identifies this request, so that it is executed once however often it is
        sent, as in a create: the first answer is stored for 24 hours. 1 to 255 visible ASCII
        characters.
        request_id: Your own id for this request: 1 to 128 characters of A–Z a–z 0–9 . _ : -.
        Anything else is replaced by a new id.
        Error codes: `bad_request`, `missing_api_key`, `invalid_api_key`, `subscription_required`,
        `account_restricted`, `guest_account_not_supported`, `insufficient_scope`,
        `workspace_scope_mismatch`, `not_found`, `method_not_allowed`, `transcription_is_not_ready`,
        `idempotency_key_reused`, `idempotency_request_in_progress`, `precondition_failed`,
        `file_too_large`, `validation_failed`, `precondition_required`, `rate_limited`,
        `internal_error`.
        """
        request = Request(
            method="POST",
            path=f"/transcriptions/{quote(str(id), safe='')}/speakers/merge",
            headers={
                "If-Match": if_match,
                "Idempotency-Key": idempotency_key,
                "X-Request-Id": request_id,
            },
            body=body,
        )
        return cast(Corrected, self._transport.json(request, stop))

    def correct_segments(
        self,
        id: str,
        body: Corrections,
        *,
        if_match: Optional[str] = None,
        idempotency_key: Optional[str] = None,
        request_id: Optional[str] = None,
        stop: Stop = NO_STOP,
    ) -> Corrected:
        """Correct segments.

        if_match: ETag of the revision that you have read: its number in quotes. If the transcript
        has another one by now, the answer is 412 with what was changed. Without it, 428.
        idempotency_key: Identifies this request, so that it is executed once however often it is
        sent, as in a create: the first answer is stored for 24 hours. 1 to 255 visible ASCII
        characters.
        request_id: Your own id for this request: 1 to 128 characters of A–Z a–z 0–9 . _ : -.
        Anything else is replaced by a new id.
        Error codes: `bad_request`, `missing_api_key`, `invalid_api_key`, `subscription_required`,
        `account_restricted`, `guest_account_not_supported`, `insufficient_scope`,
        `workspace_scope_mismatch`, `not_found`, `method_not_allowed`, `transcription_is_not_ready`,
        `idempotency_key_reused`, `idempotency_request_in_progress`, `precondition_failed`,
        `file_too_large`, `validation_failed`, `precondition_required`, `rate_limited`,
        `internal_error`.
        """
        request = Request(
            method="POST",
            path=f"/transcriptions/{quote(str(id), safe='')}/corrections",
            headers={
                "If-Match": if_match,
                "Idempotency-Key": idempotency_key,
                "X-Request-Id": request_id,
            },
            body=body,
        )
        return cast(Corrected, self._transport.json(request, stop))

    def list_revisions(
        self,
        id: str,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        request_id: Optional[str] = None,
        stop: Stop = NO_STOP,
    ) -> RevisionPage:
        """List revisions.

        limit: Maximum number of entries in a page. Very long ones are fewer: a page holds 2 MiB.
        cursor: The unchanged `next_cursor` of the previous page; omitted for the first page. It is
        opaque.
        request_id: Your own id for this request: 1 to 128 characters of A–Z a–z 0–9 . _ : -.
        Anything else is replaced by a new id.
        Error codes: `missing_api_key`, `invalid_api_key`, `subscription_required`,
        `account_restricted`, `guest_account_not_supported`, `insufficient_scope`,
        `workspace_scope_mismatch`, `not_found`, `method_not_allowed`, `transcription_is_not_ready`,
        `validation_failed`, `rate_limited`, `internal_error`.
        """
        request = Request(
            method="GET",
            path=f"/transcriptions/{quote(str(id), safe='')}/revisions",
            query={
                "limit": limit,
                "cursor": cursor,
            },
            headers={
                "X-Request-Id": request_id,
            },
        )
        return cast(RevisionPage, self._transport.json(request, stop))

    def get_revision(
        self,
        id: str,
        number: int,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        request_id: Optional[str] = None,
        stop: Stop = NO_STOP,
    ) -> RevisionSegments:
        """Read an earlier transcript.

        limit: Maximum number of entries in a page. Very long ones are fewer: a page holds 2 MiB.
        cursor: The unchanged `next_cursor` of the previous page; omitted for the first page. It is
        opaque.
        request_id: Your own id for this request: 1 to 128 characters of A–Z a–z 0–9 . _ : -.
        Anything else is replaced by a new id.
        Error codes: `missing_api_key`, `invalid_api_key`, `subscription_required`,
        `account_restricted`, `guest_account_not_supported`, `insufficient_scope`,
        `workspace_scope_mismatch`, `not_found`, `method_not_allowed`, `transcription_is_not_ready`,
        `validation_failed`, `rate_limited`, `internal_error`.
        """
        request = Request(
            method="GET",
            path=f"/transcriptions/{quote(str(id), safe='')}/revisions/{quote(str(number), safe='')}",
            query={
                "limit": limit,
                "cursor": cursor,
            },
            headers={
                "X-Request-Id": request_id,
            },
        )
        return cast(RevisionSegments, self._transport.json(request, stop))

    def compare_revision(
        self,
        id: str,
        number: int,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        other: Optional[int] = None,
        request_id: Optional[str] = None,
        stop: Stop = NO_STOP,
    ) -> Comparison:
        """Compare revisions.

        limit: Maximum number of entries in a page. Very long ones are fewer: a page holds 2 MiB.
        cursor: The unchanged `next_cursor` of the previous page; omitted for the first page. It is
        opaque.
        other: The later revision to compare with; by default the latest.
        request_id: Your own id for this request: 1 to 128 characters of A–Z a–z 0–9 . _ : -.
        Anything else is replaced by a new id.
        Error codes: `missing_api_key`, `invalid_api_key`, `subscription_required`,
        `account_restricted`, `guest_account_not_supported`, `insufficient_scope`,
        `workspace_scope_mismatch`, `not_found`, `method_not_allowed`, `transcription_is_not_ready`,
        `validation_failed`, `rate_limited`, `internal_error`.
        """
        request = Request(
            method="GET",
            path=f"/transcriptions/{quote(str(id), safe='')}/revisions/{quote(str(number), safe='')}/comparison",
            query={
                "limit": limit,
                "cursor": cursor,
                "other": other,
            },
            headers={
                "X-Request-Id": request_id,
            },
        )
        return cast(Comparison, self._transport.json(request, stop))

    def restore_revision(
        self,
        id: str,
        number: int,
        *,
        if_match: Optional[str] = None,
        idempotency_key: Optional[str] = None,
        request_id: Optional[str] = None,
        stop: Stop = NO_STOP,
    ) -> Corrected:
        """Restore a revision.

        if_match: ETag of the revision that you have read: its number in quotes. If the transcript
        has another one by now, the answer is 412 with what was changed. Without it, 428.
        idempotency_key: Identifies this request, so that it is executed once however often it is
        sent, as in a create: the first answer is stored for 24 hours. 1 to 255 visible ASCII
        characters.
        request_id: Your own id for this request: 1 to 128 characters of A–Z a–z 0–9 . _ : -.
        Anything else is replaced by a new id.
        Error codes: `bad_request`, `missing_api_key`, `invalid_api_key`, `subscription_required`,
        `account_restricted`, `guest_account_not_supported`, `insufficient_scope`,
        `workspace_scope_mismatch`, `not_found`, `method_not_allowed`, `transcription_is_not_ready`,
        `idempotency_key_reused`, `idempotency_request_in_progress`, `precondition_failed`,
        `file_too_large`, `validation_failed`, `precondition_required`, `rate_limited`,
        `internal_error`.
        """
        request = Request(
            method="POST",
            path=f"/transcriptions/{quote(str(id), safe='')}/revisions/{quote(str(number), safe='')}/restore",
            headers={
                "If-Match": if_match,
                "Idempotency-Key": idempotency_key,
                "X-Request-Id": request_id,
            },
        )
        return cast(Corrected, self._transport.json(request, stop))

    def process_again(
        self,
        id: str,
        body: ProcessAgain,
        *,
        idempotency_key: Optional[str] = None,
        request_id: Optional[str] = None,
        stop: Stop = NO_STOP,
    ) -> Processing:
        """Process a recording again.

        idempotency_key: Identifies this request, so that it is executed once however often it is
        sent, as in a create: the first answer is stored for 24 hours. 1 to 255 visible ASCII
        characters.
        request_id: Your own id for this request: 1 to 128 characters of A–Z a–z 0–9 . _ : -.
        Anything else is replaced by a new id.
        Error codes: `bad_request`, `missing_api_key`, `invalid_api_key`, `subscription_required`,
        `account_restricted`, `guest_account_not_supported`, `insufficient_scope`,
        `workspace_scope_mismatch`, `not_found`, `method_not_allowed`, `transcription_is_not_ready`,
        `transcription_still_processing`, `audio_not_stored`, `concurrency_limit`,
        `idempotency_key_reused`, `idempotency_request_in_progress`, `file_too_large`,
        `validation_failed`, `rate_limited`, `internal_error`.
        """
        request = Request(
            method="POST",
            path=f"/transcriptions/{quote(str(id), safe='')}/process",
            headers={
                "Idempotency-Key": idempotency_key,
                "X-Request-Id": request_id,
            },
            body=body,
        )
        return cast(Processing, self._transport.json(request, stop))

    def get_processing(
        self,
        id: str,
        *,
        request_id: Optional[str] = None,
        stop: Stop = NO_STOP,
    ) -> Processing:
        """Get the processing again.

        request_id: Your own id for this request: 1 to 128 characters of A–Z a–z 0–9 . _ : -.
        Anything else is replaced by a new id.
        Error codes: `missing_api_key`, `invalid_api_key`, `subscription_required`,
        `account_restricted`, `guest_account_not_supported`, `insufficient_scope`,
        `workspace_scope_mismatch`, `not_found`, `method_not_allowed`, `rate_limited`,
        `internal_error`.
        """
        request = Request(
            method="GET",
            path=f"/transcriptions/{quote(str(id), safe='')}/process",
            headers={
                "X-Request-Id": request_id,
            },
        )
        return cast(Processing, self._transport.json(request, stop))

    def list_voices(
        self,
        *,
        request_id: Optional[str] = None,
        stop: Stop = NO_STOP,
    ) -> Voices:
        """List the remembered voices.

        request_id: Your own id for this request: 1 to 128 characters of A–Z a–z 0–9 . _ : -.
        Anything else is replaced by a new id.
        Error codes: `missing_api_key`, `invalid_api_key`, `subscription_required`,
        `account_restricted`, `guest_account_not_supported`, `insufficient_scope`,
        `workspace_scope_mismatch`, `method_not_allowed`, `rate_limited`, `internal_error`.
        """
        request = Request(
            method="GET",
            path="/voices",
            headers={
                "X-Request-Id": request_id,
            },
        )
        return cast(Voices, self._transport.json(request, stop))

    def rename_voice(
        self,
        voice: str,
        body: VoiceName,
        *,
        request_id: Optional[str] = None,
        stop: Stop = NO_STOP,
    ) -> Voices:
        """Rename a voice.

        request_id: Your own id for this request: 1 to 128 characters of A–Z a–z 0–9 . _ : -.
        Anything else is replaced by a new id.
        Error codes: `bad_request`, `missing_api_key`, `invalid_api_key`, `subscription_required`,
        `account_restricted`, `guest_account_not_supported`, `insufficient_scope`,
        `workspace_scope_mismatch`, `not_found`, `method_not_allowed`, `file_too_large`,
        `validation_failed`, `rate_limited`, `internal_error`.
        """
        request = Request(
            method="PUT",
            path=f"/voices/{quote(str(voice), safe='')}",
            headers={
                "X-Request-Id": request_id,
            },
            body=body,
        )
        return cast(Voices, self._transport.json(request, stop))

    def delete_voice(
        self,
        voice: str,
        *,
        request_id: Optional[str] = None,
        stop: Stop = NO_STOP,
    ) -> None:
        """Delete a voice.

        request_id: Your own id for this request: 1 to 128 characters of A–Z a–z 0–9 . _ : -.
        Anything else is replaced by a new id.
        Error codes: `missing_api_key`, `invalid_api_key`, `subscription_required`,
        `account_restricted`, `guest_account_not_supported`, `insufficient_scope`,
        `workspace_scope_mismatch`, `not_found`, `method_not_allowed`, `rate_limited`,
        `internal_error`.
        """
        request = Request(
            method="DELETE",
            path=f"/voices/{quote(str(voice), safe='')}",
            headers={
                "X-Request-Id": request_id,
            },
        )
        self._transport.nothing(request, stop)

    def get_tags(
        self,
        id: str,
        *,
        request_id: Optional[str] = None,
        stop: Stop = NO_STOP,
    ) -> Tags:
        """Get the tags of a recording.

        request_id: Your own id for this request: 1 to 128 characters of A–Z a–z 0–9 . _ : -.
        Anything else is replaced by a new id.
        Error codes: `missing_api_key`, `invalid_api_key`, `subscription_required`,
        `account_restricted`, `guest_account_not_supported`, `insufficient_scope`,
        `workspace_scope_mismatch`, `not_found`, `method_not_allowed`, `rate_limited`,
        `internal_error`.
        """
        request = Request(
            method="GET",
            path=f"/transcriptions/{quote(str(id), safe='')}/tags",
            headers={
                "X-Request-Id": request_id,
            },
        )
        return cast(Tags, self._transport.json(request, stop))

    def set_tags(
        self,
        id: str,
        body: Tags,
        *,
        request_id: Optional[str] = None,
        stop: Stop = NO_STOP,
    ) -> Tags:
        """Replace the tags of a recording.

        request_id: Your own id for this request: 1 to 128 characters of A–Z a–z 0–9 . _ : -.
        Anything else is replaced by a new id.
        Error codes: `bad_request`, `missing_api_key`, `invalid_api_key`, `subscription_required`,
        `account_restricted`, `guest_account_not_supported`, `insufficient_scope`,
        `workspace_scope_mismatch`, `not_found`, `method_not_allowed`, `file_too_large`,
        `validation_failed`, `rate_limited`, `internal_error`.
        """
        request = Request(
            method="PUT",
            path=f"/transcriptions/{quote(str(id), safe='')}/tags",
            headers={
                "X-Request-Id": request_id,
            },
            body=body,
        )
        return cast(Tags, self._transport.json(request, stop))

    def search_transcriptions(
        self,
        *,
        q: str,
        tag: Optional[str] = None,
        status: Optional[str] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        request_id: Optional[str] = None,
        stop: Stop = NO_STOP,
    ) -> FoundPage:
        """Search in transcripts.

        q: Words that one segment has, in any order, or the recording's name. Words in quotation
        marks follow each other. The last word may be the beginning of one.
        tag: Only recordings with this tag.
        status: Only recordings with this status: one of `queued`, `processing`, `completed`,
        `failed`, or several separated by commas.
        limit: Maximum number of entries in a page. Very long ones are fewer: a page holds 2 MiB.
        cursor: The unchanged `next_cursor` of the previous page; omitted for the first page. It is
        opaque.
        request_id: Your own id for this request: 1 to 128 characters of A–Z a–z 0–9 . _ : -.
        Anything else is replaced by a new id.
        Error codes: `missing_api_key`, `invalid_api_key`, `subscription_required`,
        `account_restricted`, `guest_account_not_supported`, `insufficient_scope`,
        `method_not_allowed`, `validation_failed`, `rate_limited`, `internal_error`.
        """
        request = Request(
            method="GET",
            path="/search",
            query={
                "q": q,
                "tag": tag,
                "status": status,
                "limit": limit,
                "cursor": cursor,
            },
            headers={
                "X-Request-Id": request_id,
            },
        )
        return cast(FoundPage, self._transport.json(request, stop))

    def export_transcription_as(
        self,
        id: str,
        format: FileFormat,
        *,
        text: Optional[TextName] = None,
        speakers: Optional[SpeakerStyle] = None,
        width: Optional[int] = None,
        lines: Optional[int] = None,
        words: Optional[int] = None,
        media: Optional[str] = None,
        if_none_match: Optional[str] = None,
        request_id: Optional[str] = None,
        stop: Stop = NO_STOP,
    ) -> Download:
        """Download the transcript in a chosen form.

        text: The text of the file: the transcript, by default, or the translation to English.
        speakers: How speakers are written: with the names that people gave them, with letters, or
        not at all. With `names` and `letters`, `srt` and `ttml` have `Name:` where the speaker
        changes. By default they name nobody, and the other formats have letters. `tsv` and `lrc`
        have no speakers.
        width: Maximum width of a line, in columns of a Latin letter; by default 42. Only of
        subtitles: `srt`, `vtt`, `ttml`, `podcast`.
        lines: Maximum lines of a subtitle; by default 2. Only of subtitles: `srt`, `vtt`, `ttml`,
        `podcast`.
        words: Maximum words of a subtitle; by default as many as fit. Only of subtitles: `srt`,
        `vtt`, `ttml`, `podcast`.
        media: File name of the recording, which the annotation program opens. Only of `eaf` and
        `exb`.
        if_none_match: `ETag` of a stored export. If it is still current, the answer is 304 without
        a body.
        request_id: Your own id for this request: 1 to 128 characters of A–Z a–z 0–9 . _ : -.
        Anything else is replaced by a new id.
        Error codes: `missing_api_key`, `invalid_api_key`, `subscription_required`,
        `account_restricted`, `guest_account_not_supported`, `insufficient_scope`,
        `workspace_scope_mismatch`, `not_found`, `translation_not_found`, `method_not_allowed`,
        `transcription_is_not_ready`, `validation_failed`, `rate_limited`, `internal_error`.
        """
        request = Request(
            method="GET",
            path=f"/transcriptions/{quote(str(id), safe='')}/exports/{quote(str(format), safe='')}",
            query={
                "text": text,
                "speakers": speakers,
                "width": width,
                "lines": lines,
                "words": words,
                "media": media,
            },
            headers={
                "If-None-Match": if_none_match,
                "X-Request-Id": request_id,
            },
        )
        return self._transport.file(request, stop)

    def get_translation(
        self,
        id: str,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        words: Optional[bool] = None,
        request_id: Optional[str] = None,
        stop: Stop = NO_STOP,
    ) -> SegmentPage:
        """Read the translation.

        limit: Maximum number of entries in a page. Very long ones are fewer: a page holds 2 MiB.
        cursor: The unchanged `next_cursor` of the previous page; omitted for the first page. It is
        opaque.
        words: Whether each segment also has its words with their times.
        request_id: Your own id for this request: 1 to 128 characters of A–Z a–z 0–9 . _ : -.
        Anything else is replaced by a new id.
        Error codes: `missing_api_key`, `invalid_api_key`, `subscription_required`,
        `account_restricted`, `guest_account_not_supported`, `insufficient_scope`,
        `workspace_scope_mismatch`, `not_found`, `translation_not_found`, `method_not_allowed`,
        `transcription_is_not_ready`, `validation_failed`, `rate_limited`, `internal_error`.
        """
        request = Request(
            method="GET",
            path=f"/transcriptions/{quote(str(id), safe='')}/translation",
            query={
                "limit": limit,
                "cursor": cursor,
                "words": words,
            },
            headers={
                "X-Request-Id": request_id,
            },
        )
        return cast(SegmentPage, self._transport.json(request, stop))
