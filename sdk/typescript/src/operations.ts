// scripts/sdk generates this file from the API's OpenAPI document.
import type { CallOptions, Download, Transport, UploadOptions } from "./transport.ts";
import type {
  CancelTranscriptionParameters,
  CompareRevisionParameters,
  Comparison,
  Corrected,
  Corrections,
  CorrectSegmentsParameters,
  CreateTranscriptionParameters,
  DeleteTranscriptionParameters,
  DeleteVoiceParameters,
  ExportTranscriptionAsParameters,
  ExportTranscriptionParameters,
  FileFormat,
  FoundPage,
  GetProcessingParameters,
  GetRevisionParameters,
  GetTagsParameters,
  GetTranscriptionParameters,
  GetTranslationParameters,
  Languages,
  ListLanguagesParameters,
  ListRevisionsParameters,
  ListSegmentsParameters,
  ListSpeakersParameters,
  ListTranscriptionsParameters,
  ListVoicesParameters,
  MergeSpeakersParameters,
  NameSpeakersParameters,
  ProcessAgain,
  ProcessAgainParameters,
  Processing,
  RenameVoiceParameters,
  RestoreRevisionParameters,
  RevisionPage,
  RevisionSegments,
  SearchTranscriptionsParameters,
  SegmentPage,
  SetTagsParameters,
  SpeakerMerge,
  SpeakerNames,
  Speakers,
  Tags,
  Transcription,
  TranscriptionForm,
  TranscriptionPage,
  VoiceName,
  Voices,
} from "./types.ts";

/** The operations of the API, one request each. */
export class Operations {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Send a recording.
   *
   * Error codes: `bad_request`, `missing_api_key`, `invalid_api_key`, `subscription_required`, `account_restricted`,
   * `guest_account_not_supported`, `insufficient_scope`, `not_found`, `method_not_allowed`, `concurrency_limit`,
   * `idempotency_key_reused`, `idempotency_request_in_progress`, `file_too_large`, `validation_failed`,
   * `uploaded_file_cannot_be_processed`, `playlist_not_acceptable`, `rate_limited`, `internal_error`,
   * `service_unavailable`.
   */
  createTranscription(
    form: TranscriptionForm,
    parameters: CreateTranscriptionParameters = {},
    call: UploadOptions = {},
  ): Promise<Transcription> {
    return this.#transport.json<Transcription>(
      {
        method: "POST",
        path: "/transcriptions",
        headers: {
          "Idempotency-Key": parameters.idempotency_key,
          "Content-Digest": parameters.content_digest,
          "X-Request-Id": parameters.request_id,
        },
        form,
      },
      call,
    );
  }

  /**
   * List recordings.
   *
   * Error codes: `missing_api_key`, `invalid_api_key`, `subscription_required`, `account_restricted`,
   * `guest_account_not_supported`, `insufficient_scope`, `method_not_allowed`, `validation_failed`, `rate_limited`,
   * `internal_error`.
   */
  listTranscriptions(
    parameters: ListTranscriptionsParameters = {},
    call: CallOptions = {},
  ): Promise<TranscriptionPage> {
    return this.#transport.json<TranscriptionPage>(
      {
        method: "GET",
        path: "/transcriptions",
        query: {
          limit: parameters.limit,
          cursor: parameters.cursor,
          status: parameters.status,
          created_after: parameters.created_after,
          created_before: parameters.created_before,
        },
        headers: { "X-Request-Id": parameters.request_id },
      },
      call,
    );
  }

  /**
   * Get a recording.
   *
   * Error codes: `missing_api_key`, `invalid_api_key`, `subscription_required`, `account_restricted`,
   * `guest_account_not_supported`, `insufficient_scope`, `workspace_scope_mismatch`, `not_found`, `method_not_allowed`,
   * `rate_limited`, `internal_error`.
   */
  getTranscription(
    id: string,
    parameters: GetTranscriptionParameters = {},
    call: CallOptions = {},
  ): Promise<Transcription> {
    return this.#transport.json<Transcription>(
      {
        method: "GET",
        path: `/transcriptions/${encodeURIComponent(id)}`,
        headers: { "X-Request-Id": parameters.request_id },
      },
      call,
    );
  }

  /**
   * Delete a recording.
   *
   * Error codes: `missing_api_key`, `invalid_api_key`, `subscription_required`, `account_restricted`,
   * `guest_account_not_supported`, `insufficient_scope`, `workspace_scope_mismatch`, `forbidden`, `not_found`,
   * `method_not_allowed`, `transcription_still_processing`, `rate_limited`, `internal_error`.
   */
  deleteTranscription(
    id: string,
    parameters: DeleteTranscriptionParameters = {},
    call: CallOptions = {},
  ): Promise<void> {
    return this.#transport.nothing(
      {
        method: "DELETE",
        path: `/transcriptions/${encodeURIComponent(id)}`,
        headers: { "X-Request-Id": parameters.request_id },
      },
      call,
    );
  }

  /**
   * Read the transcript.
   *
   * Error codes: `missing_api_key`, `invalid_api_key`, `subscription_required`, `account_restricted`,
   * `guest_account_not_supported`, `insufficient_scope`, `workspace_scope_mismatch`, `not_found`, `method_not_allowed`,
   * `transcription_is_not_ready`, `validation_failed`, `rate_limited`, `internal_error`.
   */
  listSegments(id: string, parameters: ListSegmentsParameters = {}, call: CallOptions = {}): Promise<SegmentPage> {
    return this.#transport.json<SegmentPage>(
      {
        method: "GET",
        path: `/transcriptions/${encodeURIComponent(id)}/segments`,
        query: { limit: parameters.limit, cursor: parameters.cursor, words: parameters.words },
        headers: { "X-Request-Id": parameters.request_id },
      },
      call,
    );
  }

  /**
   * Download the transcript.
   *
   * Error codes: `missing_api_key`, `invalid_api_key`, `subscription_required`, `account_restricted`,
   * `guest_account_not_supported`, `insufficient_scope`, `workspace_scope_mismatch`, `not_found`, `method_not_allowed`,
   * `transcription_is_not_ready`, `validation_failed`, `rate_limited`, `internal_error`.
   */
  exportTranscription(
    id: string,
    parameters: ExportTranscriptionParameters,
    call: CallOptions = {},
  ): Promise<Download> {
    return this.#transport.file(
      {
        method: "GET",
        path: `/transcriptions/${encodeURIComponent(id)}/export`,
        query: { format: parameters.format },
        headers: { "If-None-Match": parameters.if_none_match, "X-Request-Id": parameters.request_id },
      },
      call,
    );
  }

  /**
   * List languages.
   *
   * Error codes: `missing_api_key`, `invalid_api_key`, `subscription_required`, `account_restricted`,
   * `guest_account_not_supported`, `method_not_allowed`, `rate_limited`, `internal_error`.
   */
  listLanguages(parameters: ListLanguagesParameters = {}, call: CallOptions = {}): Promise<Languages> {
    return this.#transport.json<Languages>(
      {
        method: "GET",
        path: "/languages",
        headers: { "X-Request-Id": parameters.request_id },
      },
      call,
    );
  }

  /**
   * Cancel a recording.
   *
   * Error codes: `bad_request`, `missing_api_key`, `invalid_api_key`, `subscription_required`, `account_restricted`,
   * `guest_account_not_supported`, `insufficient_scope`, `workspace_scope_mismatch`, `not_found`, `method_not_allowed`,
   * `transcription_has_ended`, `idempotency_key_reused`, `idempotency_request_in_progress`, `file_too_large`,
   * `validation_failed`, `rate_limited`, `internal_error`.
   */
  cancelTranscription(
    id: string,
    parameters: CancelTranscriptionParameters = {},
    call: CallOptions = {},
  ): Promise<Transcription> {
    return this.#transport.json<Transcription>(
      {
        method: "POST",
        path: `/transcriptions/${encodeURIComponent(id)}/cancel`,
        headers: { "Idempotency-Key": parameters.idempotency_key, "X-Request-Id": parameters.request_id },
      },
      call,
    );
  }

  /**
   * List the speakers.
   *
   * Error codes: `missing_api_key`, `invalid_api_key`, `subscription_required`, `account_restricted`,
   * `guest_account_not_supported`, `insufficient_scope`, `workspace_scope_mismatch`, `not_found`, `method_not_allowed`,
   * `transcription_is_not_ready`, `rate_limited`, `internal_error`.
   */
  listSpeakers(id: string, parameters: ListSpeakersParameters = {}, call: CallOptions = {}): Promise<Speakers> {
    return this.#transport.json<Speakers>(
      {
        method: "GET",
        path: `/transcriptions/${encodeURIComponent(id)}/speakers`,
        headers: { "X-Request-Id": parameters.request_id },
      },
      call,
    );
  }

  /**
   * Name speakers.
   *
   * Error codes: `bad_request`, `missing_api_key`, `invalid_api_key`, `subscription_required`, `account_restricted`,
   * `guest_account_not_supported`, `insufficient_scope`, `workspace_scope_mismatch`, `not_found`, `method_not_allowed`,
   * `transcription_is_not_ready`, `precondition_failed`, `file_too_large`, `validation_failed`, `rate_limited`,
   * `internal_error`.
   */
  nameSpeakers(
    id: string,
    body: SpeakerNames,
    parameters: NameSpeakersParameters = {},
    call: CallOptions = {},
  ): Promise<Speakers> {
    return this.#transport.json<Speakers>(
      {
        method: "PATCH",
        path: `/transcriptions/${encodeURIComponent(id)}/speakers`,
        headers: { "If-Match": parameters.if_match, "X-Request-Id": parameters.request_id },
        body,
      },
      call,
    );
  }

  /**
   * Merge two speakers.
   *
   * Error codes: `bad_request`, `missing_api_key`, `invalid_api_key`, `subscription_required`, `account_restricted`,
   * `guest_account_not_supported`, `insufficient_scope`, `workspace_scope_mismatch`, `not_found`, `method_not_allowed`,
   * `transcription_is_not_ready`, `idempotency_key_reused`, `idempotency_request_in_progress`, `precondition_failed`,
   * `file_too_large`, `validation_failed`, `precondition_required`, `rate_limited`, `internal_error`.
   */
  mergeSpeakers(
    id: string,
    body: SpeakerMerge,
    parameters: MergeSpeakersParameters = {},
    call: CallOptions = {},
  ): Promise<Corrected> {
    return this.#transport.json<Corrected>(
      {
        method: "POST",
        path: `/transcriptions/${encodeURIComponent(id)}/speakers/merge`,
        headers: {
          "If-Match": parameters.if_match,
          "Idempotency-Key": parameters.idempotency_key,
          "X-Request-Id": parameters.request_id,
        },
        body,
      },
      call,
    );
  }

  /**
   * Correct segments.
   *
   * Error codes: `bad_request`, `missing_api_key`, `invalid_api_key`, `subscription_required`, `account_restricted`,
   * `guest_account_not_supported`, `insufficient_scope`, `workspace_scope_mismatch`, `not_found`, `method_not_allowed`,
   * `transcription_is_not_ready`, `idempotency_key_reused`, `idempotency_request_in_progress`, `precondition_failed`,
   * `file_too_large`, `validation_failed`, `precondition_required`, `rate_limited`, `internal_error`.
   */
  correctSegments(
    id: string,
    body: Corrections,
    parameters: CorrectSegmentsParameters = {},
    call: CallOptions = {},
  ): Promise<Corrected> {
    return this.#transport.json<Corrected>(
      {
        method: "POST",
        path: `/transcriptions/${encodeURIComponent(id)}/corrections`,
        headers: {
          "If-Match": parameters.if_match,
          "Idempotency-Key": parameters.idempotency_key,
          "X-Request-Id": parameters.request_id,
        },
        body,
      },
      call,
    );
  }

  /**
   * List revisions.
   *
   * Error codes: `missing_api_key`, `invalid_api_key`, `subscription_required`, `account_restricted`,
   * `guest_account_not_supported`, `insufficient_scope`, `workspace_scope_mismatch`, `not_found`, `method_not_allowed`,
   * `transcription_is_not_ready`, `validation_failed`, `rate_limited`, `internal_error`.
   */
  listRevisions(id: string, parameters: ListRevisionsParameters = {}, call: CallOptions = {}): Promise<RevisionPage> {
    return this.#transport.json<RevisionPage>(
      {
        method: "GET",
        path: `/transcriptions/${encodeURIComponent(id)}/revisions`,
        query: { limit: parameters.limit, cursor: parameters.cursor },
        headers: { "X-Request-Id": parameters.request_id },
      },
      call,
    );
  }

  /**
   * Read an earlier transcript.
   *
   * Error codes: `missing_api_key`, `invalid_api_key`, `subscription_required`, `account_restricted`,
   * `guest_account_not_supported`, `insufficient_scope`, `workspace_scope_mismatch`, `not_found`, `method_not_allowed`,
   * `transcription_is_not_ready`, `validation_failed`, `rate_limited`, `internal_error`.
   */
  getRevision(
    id: string,
    number: number,
    parameters: GetRevisionParameters = {},
    call: CallOptions = {},
  ): Promise<RevisionSegments> {
    return this.#transport.json<RevisionSegments>(
      {
        method: "GET",
        path: `/transcriptions/${encodeURIComponent(id)}/revisions/${encodeURIComponent(number)}`,
        query: { limit: parameters.limit, cursor: parameters.cursor },
        headers: { "X-Request-Id": parameters.request_id },
      },
      call,
    );
  }

  /**
   * Compare revisions.
   *
   * Error codes: `missing_api_key`, `invalid_api_key`, `subscription_required`, `account_restricted`,
   * `guest_account_not_supported`, `insufficient_scope`, `workspace_scope_mismatch`, `not_found`, `method_not_allowed`,
   * `transcription_is_not_ready`, `validation_failed`, `rate_limited`, `internal_error`.
   */
  compareRevision(
    id: string,
    number: number,
    parameters: CompareRevisionParameters = {},
    call: CallOptions = {},
  ): Promise<Comparison> {
    return this.#transport.json<Comparison>(
      {
        method: "GET",
        path: `/transcriptions/${encodeURIComponent(id)}/revisions/${encodeURIComponent(number)}/comparison`,
        query: { limit: parameters.limit, cursor: parameters.cursor, other: parameters.other },
        headers: { "X-Request-Id": parameters.request_id },
      },
      call,
    );
  }

  /**
   * Restore a revision.
   *
   * Error codes: `bad_request`, `missing_api_key`, `invalid_api_key`, `subscription_required`, `account_restricted`,
   * `guest_account_not_supported`, `insufficient_scope`, `workspace_scope_mismatch`, `not_found`, `method_not_allowed`,
   * `transcription_is_not_ready`, `idempotency_key_reused`, `idempotency_request_in_progress`, `precondition_failed`,
   * `file_too_large`, `validation_failed`, `precondition_required`, `rate_limited`, `internal_error`.
   */
  restoreRevision(
    id: string,
    number: number,
    parameters: RestoreRevisionParameters = {},
    call: CallOptions = {},
  ): Promise<Corrected> {
    return this.#transport.json<Corrected>(
      {
        method: "POST",
        path: `/transcriptions/${encodeURIComponent(id)}/revisions/${encodeURIComponent(number)}/restore`,
        headers: {
          "If-Match": parameters.if_match,
          "Idempotency-Key": parameters.idempotency_key,
          "X-Request-Id": parameters.request_id,
        },
      },
      call,
    );
  }

  /**
   * Process a recording again.
   *
   * Error codes: `bad_request`, `missing_api_key`, `invalid_api_key`, `subscription_required`, `account_restricted`,
   * `guest_account_not_supported`, `insufficient_scope`, `workspace_scope_mismatch`, `not_found`, `method_not_allowed`,
   * `transcription_is_not_ready`, `transcription_still_processing`, `audio_not_stored`, `concurrency_limit`,
   * `idempotency_key_reused`, `idempotency_request_in_progress`, `file_too_large`, `validation_failed`, `rate_limited`,
   * `internal_error`.
   */
  processAgain(
    id: string,
    body: ProcessAgain,
    parameters: ProcessAgainParameters = {},
    call: CallOptions = {},
  ): Promise<Processing> {
    return this.#transport.json<Processing>(
      {
        method: "POST",
        path: `/transcriptions/${encodeURIComponent(id)}/process`,
        headers: { "Idempotency-Key": parameters.idempotency_key, "X-Request-Id": parameters.request_id },
        body,
      },
      call,
    );
  }

  /**
   * Get the processing again.
   *
   * Error codes: `missing_api_key`, `invalid_api_key`, `subscription_required`, `account_restricted`,
   * `guest_account_not_supported`, `insufficient_scope`, `workspace_scope_mismatch`, `not_found`, `method_not_allowed`,
   * `rate_limited`, `internal_error`.
   */
  getProcessing(id: string, parameters: GetProcessingParameters = {}, call: CallOptions = {}): Promise<Processing> {
    return this.#transport.json<Processing>(
      {
        method: "GET",
        path: `/transcriptions/${encodeURIComponent(id)}/process`,
        headers: { "X-Request-Id": parameters.request_id },
      },
      call,
    );
  }

  /**
   * List the remembered voices.
   *
   * Error codes: `missing_api_key`, `invalid_api_key`, `subscription_required`, `account_restricted`,
   * `guest_account_not_supported`, `insufficient_scope`, `workspace_scope_mismatch`, `method_not_allowed`,
   * `rate_limited`, `internal_error`.
   */
  listVoices(parameters: ListVoicesParameters = {}, call: CallOptions = {}): Promise<Voices> {
    return this.#transport.json<Voices>(
      {
        method: "GET",
        path: "/voices",
        headers: { "X-Request-Id": parameters.request_id },
      },
      call,
    );
  }

  /**
   * Rename a voice.
   *
   * Error codes: `bad_request`, `missing_api_key`, `invalid_api_key`, `subscription_required`, `account_restricted`,
   * `guest_account_not_supported`, `insufficient_scope`, `workspace_scope_mismatch`, `not_found`, `method_not_allowed`,
   * `file_too_large`, `validation_failed`, `rate_limited`, `internal_error`.
   */
  renameVoice(
    voice: string,
    body: VoiceName,
    parameters: RenameVoiceParameters = {},
    call: CallOptions = {},
  ): Promise<Voices> {
    return this.#transport.json<Voices>(
      {
        method: "PUT",
        path: `/voices/${encodeURIComponent(voice)}`,
        headers: { "X-Request-Id": parameters.request_id },
        body,
      },
      call,
    );
  }

  /**
   * Delete a voice.
   *
   * Error codes: `missing_api_key`, `invalid_api_key`, `subscription_required`, `account_restricted`,
   * `guest_account_not_supported`, `insufficient_scope`, `workspace_scope_mismatch`, `not_found`, `method_not_allowed`,
   * `rate_limited`, `internal_error`.
   */
  deleteVoice(voice: string, parameters: DeleteVoiceParameters = {}, call: CallOptions = {}): Promise<void> {
    return this.#transport.nothing(
      {
        method: "DELETE",
        path: `/voices/${encodeURIComponent(voice)}`,
        headers: { "X-Request-Id": parameters.request_id },
      },
      call,
    );
  }

  /**
   * Get the tags of a recording.
   *
   * Error codes: `missing_api_key`, `invalid_api_key`, `subscription_required`, `account_restricted`,
   * `guest_account_not_supported`, `insufficient_scope`, `workspace_scope_mismatch`, `not_found`, `method_not_allowed`,
   * `rate_limited`, `internal_error`.
   */
  getTags(id: string, parameters: GetTagsParameters = {}, call: CallOptions = {}): Promise<Tags> {
    return this.#transport.json<Tags>(
      {
        method: "GET",
        path: `/transcriptions/${encodeURIComponent(id)}/tags`,
        headers: { "X-Request-Id": parameters.request_id },
      },
      call,
    );
  }

  /**
   * Replace the tags of a recording.
   *
   * Error codes: `bad_request`, `missing_api_key`, `invalid_api_key`, `subscription_required`, `account_restricted`,
   * `guest_account_not_supported`, `insufficient_scope`, `workspace_scope_mismatch`, `not_found`, `method_not_allowed`,
   * `file_too_large`, `validation_failed`, `rate_limited`, `internal_error`.
   */
  setTags(id: string, body: Tags, parameters: SetTagsParameters = {}, call: CallOptions = {}): Promise<Tags> {
    return this.#transport.json<Tags>(
      {
        method: "PUT",
        path: `/transcriptions/${encodeURIComponent(id)}/tags`,
        headers: { "X-Request-Id": parameters.request_id },
        body,
      },
      call,
    );
  }

  /**
   * Search in transcripts.
   *
   * Error codes: `missing_api_key`, `invalid_api_key`, `subscription_required`, `account_restricted`,
   * `guest_account_not_supported`, `insufficient_scope`, `method_not_allowed`, `validation_failed`, `rate_limited`,
   * `internal_error`.
   */
  searchTranscriptions(parameters: SearchTranscriptionsParameters, call: CallOptions = {}): Promise<FoundPage> {
    return this.#transport.json<FoundPage>(
      {
        method: "GET",
        path: "/search",
        query: {
          q: parameters.q,
          tag: parameters.tag,
          status: parameters.status,
          limit: parameters.limit,
          cursor: parameters.cursor,
        },
        headers: { "X-Request-Id": parameters.request_id },
      },
      call,
    );
  }

  /**
   * Download the transcript in a chosen form.
   *
   * Error codes: `missing_api_key`, `invalid_api_key`, `subscription_required`, `account_restricted`,
   * `guest_account_not_supported`, `insufficient_scope`, `workspace_scope_mismatch`, `not_found`,
   * `translation_not_found`, `method_not_allowed`, `transcription_is_not_ready`, `validation_failed`, `rate_limited`,
   * `internal_error`.
   */
  exportTranscriptionAs(
    id: string,
    format: FileFormat,
    parameters: ExportTranscriptionAsParameters = {},
    call: CallOptions = {},
  ): Promise<Download> {
    return this.#transport.file(
      {
        method: "GET",
        path: `/transcriptions/${encodeURIComponent(id)}/exports/${encodeURIComponent(format)}`,
        query: {
          text: parameters.text,
          speakers: parameters.speakers,
          width: parameters.width,
          lines: parameters.lines,
          words: parameters.words,
          media: parameters.media,
        },
        headers: { "If-None-Match": parameters.if_none_match, "X-Request-Id": parameters.request_id },
      },
      call,
    );
  }

  /**
   * Read the translation.
   *
   * Error codes: `missing_api_key`, `invalid_api_key`, `subscription_required`, `account_restricted`,
   * `guest_account_not_supported`, `insufficient_scope`, `workspace_scope_mismatch`, `not_found`,
   * `translation_not_found`, `method_not_allowed`, `transcription_is_not_ready`, `validation_failed`, `rate_limited`,
   * `internal_error`.
   */
  getTranslation(id: string, parameters: GetTranslationParameters = {}, call: CallOptions = {}): Promise<SegmentPage> {
    return this.#transport.json<SegmentPage>(
      {
        method: "GET",
        path: `/transcriptions/${encodeURIComponent(id)}/translation`,
        query: { limit: parameters.limit, cursor: parameters.cursor, words: parameters.words },
        headers: { "X-Request-Id": parameters.request_id },
      },
      call,
    );
  }
}
