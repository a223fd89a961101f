// scripts/sdk generates this file from the API's OpenAPI document.
import type { CallOptions, Download, Transport, UploadOptions } from "./transport.ts";
import type {
  CreateTranscriptionParameters,
  DeleteTranscriptionParameters,
  ExportTranscriptionAsParameters,
  ExportTranscriptionParameters,
  FileFormat,
  GetTranscriptionParameters,
  GetTranslationParameters,
  Languages,
  ListLanguagesParameters,
  ListSegmentsParameters,
  ListTranscriptionsParameters,
  SegmentPage,
  Transcription,
  TranscriptionForm,
  TranscriptionPage,
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
