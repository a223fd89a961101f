// scripts/sdk generates this file from the API's OpenAPI document.
import type { RecordingFile } from "./recording-file.ts";

/** Version of this package and of the program whose API it describes. */
export const version = "0.3.0";

/** Path of the API on a server. */
export const basePath = "/api/public/v1";

export type Task = "transcribe" | "translate";

export interface TranscriptionForm {
  /** One recording, audio or video, of any format that ffmpeg reads. Either this or `url`. */
  file?: RecordingFile | undefined;
  /** An http or https link to one recording, without credentials, at a public address. Either this or `file`. */
  url?: string | undefined;
  /** Code of `GET /languages`, in upper or lower case. If omitted, the language is detected. */
  language?: string | undefined;
  /**
   * With `translate`, the speech is translated to English as well; `GET /transcriptions/{id}/translation` has the
   * result. The model in use must be able to translate.
   */
  task?: Task | undefined;
  /**
   * Names and terms of this recording, separated by commas or line ends. They are used together with the account's
   * vocabulary. An empty prompt is none.
   */
  prompt?: string | undefined;
  /** Exact number of speakers. It can't be combined with `min_speakers` and `max_speakers`. */
  speakers?: number | undefined;
  /** Minimum number of speakers. */
  min_speakers?: number | undefined;
  /** Maximum number of speakers, at least `min_speakers`. */
  max_speakers?: number | undefined;
}

export type TranscriptionStatus = "queued" | "processing" | "completed" | "failed";

export type TranscriptionSourceType = "file" | "url";

/** Origin of the recording. */
export interface TranscriptionSource {
  /** How the recording was sent. */
  type: TranscriptionSourceType;
  /** Name of the uploaded file without its extension; null for a link. */
  name: string | null;
  /** The link that was sent, without its fragment; null for an upload. */
  url: string | null;
}

/** The workspace of the key that created the recording; null for none. */
export interface TranscriptionWorkspace {
  id: string;
  name: string;
}

export type TranscriptionProgressStep = "fetch" | "decode" | "detect" | "transcribe" | "diarize" | "finalize";

/** Progress to show to people. Only `status` shows whether processing has ended. */
export interface TranscriptionProgress {
  /** The current step, as a label to show. Null before processing begins and after it has ended. */
  step: TranscriptionProgressStep | null;
  /** Completed part of all steps; it never decreases. Null if it can't be measured. */
  percent: number | null;
  /** Whether the current step can't be measured. */
  indeterminate: boolean;
}

export type TranscriptionFailureReason = "no_speech" | "too_short" | "quota_exceeded" | "internal";

/** A recording and its status. */
export interface Transcription {
  /** A UUID of version 7: it sorts by creation. */
  id: string;
  status: TranscriptionStatus;
  /** Null in this version. */
  title: string | null;
  /**
   * ISO 639-1 code, or 639-3 if 639-1 has none: the language that was sent, or the detected one. Null until known; if
   * no speech was found, null unless a language was sent.
   */
  language: string | null;
  /** Length of the recording, rounded. Null until known. */
  duration_seconds: number | null;
  /** With milliseconds, as UTC with the offset +00:00. */
  created_at: string;
  /** Time of the last change of any field. */
  updated_at: string;
  /** Origin of the recording. */
  source: TranscriptionSource;
  /** The workspace of the key that created the recording; null for none. */
  workspace: TranscriptionWorkspace | null;
  /** Progress to show to people. Only `status` shows whether processing has ended. */
  progress: TranscriptionProgress;
  /**
   * Null unless `failed`. `no_speech`: no speech was found. `too_short`: less than half a second of audio.
   * `quota_exceeded`: the account's audio quota of the day was used up when processing was to begin. `internal`: a
   * fault of the service, a link that could not be fetched, or a recording that is too long.
   */
  failure_reason: TranscriptionFailureReason | null;
}

/** Progress to show to people. Only `status` shows whether processing has ended. */
export interface ListedTranscriptionProgress {
  /** The current step, as a label to show. Null before processing begins and after it has ended. */
  step: TranscriptionProgressStep | null;
}

/** A recording in a list. Its progress contains only the step. */
export interface ListedTranscription {
  /** A UUID of version 7: it sorts by creation. */
  id: string;
  status: TranscriptionStatus;
  /** Null in this version. */
  title: string | null;
  /**
   * ISO 639-1 code, or 639-3 if 639-1 has none: the language that was sent, or the detected one. Null until known; if
   * no speech was found, null unless a language was sent.
   */
  language: string | null;
  /** Length of the recording, rounded. Null until known. */
  duration_seconds: number | null;
  /** With milliseconds, as UTC with the offset +00:00. */
  created_at: string;
  /** Time of the last change of any field. */
  updated_at: string;
  /** Origin of the recording. */
  source: TranscriptionSource;
  /** The workspace of the key that created the recording; null for none. */
  workspace: TranscriptionWorkspace | null;
  /**
   * Null unless `failed`. `no_speech`: no speech was found. `too_short`: less than half a second of audio.
   * `quota_exceeded`: the account's audio quota of the day was used up when processing was to begin. `internal`: a
   * fault of the service, a link that could not be fetched, or a recording that is too long.
   */
  failure_reason: TranscriptionFailureReason | null;
  /** Progress to show to people. Only `status` shows whether processing has ended. */
  progress: ListedTranscriptionProgress;
}

/** Recordings, newest first. */
export interface TranscriptionPage {
  data: ListedTranscription[];
  /** Whether there is a next page. */
  has_more: boolean;
  /** Send it as `cursor` for the next page. Empty on the last. */
  next_cursor: string;
}

/** A word of a segment. */
export interface Word {
  /** The word with its punctuation, without surrounding space. */
  text: string;
  /** Seconds from the beginning of the recording. */
  start: number;
  /** Seconds from the beginning of the recording. */
  end: number;
  /** How sure the model is of the word, from 0 to 1. */
  probability: number;
  /** Present if the model's probabilities are not calibrated, so that no limit for uncertain words is known. */
  calibrated?: false;
}

/** Speech of one speaker without a long pause. */
export interface Segment {
  /** Position in the transcript, from 0. */
  index: number;
  /** Seconds from the beginning; it never decreases from one segment to the next. */
  start: number;
  /** Seconds from the beginning, after `start`. */
  end: number;
  /** Speaker label: A to Z, then AA and so on, in order of first appearance. */
  speaker: string;
  /** The text, without surrounding space. */
  text: string;
  /** The words in their order. Present only with `words=true`. */
  words?: Word[];
}

/** Segments in their order. */
export interface SegmentPage {
  data: Segment[];
  /** Whether there is a next page. */
  has_more: boolean;
  /** Send it as `cursor` for the next page. Empty on the last. */
  next_cursor: string;
}

export type ExportFormat =
  | "txt"
  | "srt"
  | "vtt"
  | "pdf"
  | "docx"
  | "json"
  | "rttm"
  | "csv"
  | "textgrid"
  | "eaf"
  | "tsv"
  | "lrc";

export interface Language {
  /** ISO 639-1, or 639-3 if 639-1 has none. */
  code: string;
  /** In English. */
  name: string;
}

/** Sorted by code. */
export interface Languages {
  data: Language[];
}

export type FileFormat =
  | "txt"
  | "srt"
  | "vtt"
  | "pdf"
  | "docx"
  | "json"
  | "rttm"
  | "csv"
  | "textgrid"
  | "eaf"
  | "tsv"
  | "lrc"
  | "md"
  | "ttml"
  | "exb"
  | "whisper"
  | "podcast";

export type TextName = "transcript" | "translation";

export type SpeakerStyle = "names" | "letters" | "none";

export type ErrorCode =
  | "bad_request"
  | "missing_api_key"
  | "invalid_api_key"
  | "subscription_required"
  | "insufficient_scope"
  | "account_restricted"
  | "guest_account_not_supported"
  | "workspace_scope_mismatch"
  | "forbidden"
  | "not_found"
  | "translation_not_found"
  | "method_not_allowed"
  | "concurrency_limit"
  | "idempotency_key_reused"
  | "idempotency_request_in_progress"
  | "transcription_still_processing"
  | "transcription_is_not_ready"
  | "file_too_large"
  | "validation_failed"
  | "uploaded_file_cannot_be_processed"
  | "playlist_not_acceptable"
  | "rate_limited"
  | "internal_error"
  | "service_unavailable";

export interface ErrorEnvelope {
  /** The error code, for programs. */
  error: ErrorCode;
  /** The error in words, for people. The wording may change. */
  message: string;
  /** Messages by the name of the field, parameter or header. Only with `validation_failed`. */
  errors?: Record<string, string[]>;
  /** The scope that the route needs. Only with `insufficient_scope`. */
  required?: string;
  /** URL of this server's documentation. Only with the codes of an account that may not use the API. */
  docs?: string;
}

/** Parameters of {@link Operations.createTranscription}. */
export interface CreateTranscriptionParameters {
  /**
   * Identifies this create, so that it is executed once however often it is sent: 1 to 255 visible ASCII characters,
   * such as a new UUID. Send one, and repeat it with every retry.
   */
  idempotency_key?: string | undefined;
  /**
   * Digest of the whole body (RFC 9530), sha-256 or sha-512. A body that does not match it is refused with
   * `uploaded_file_cannot_be_processed`. At most 16 digests in 2,048 characters; the last digest of an algorithm
   * counts.
   */
  content_digest?: string | undefined;
  /**
   * Your own id for this request: 1 to 128 characters of A–Z a–z 0–9 . _ : -. Anything else is replaced by a new id.
   */
  request_id?: string | undefined;
}

/** Parameters of {@link Operations.listTranscriptions}. */
export interface ListTranscriptionsParameters {
  /** Maximum number of entries in a page. Very long ones are fewer: a page holds 2 MiB. */
  limit?: number | undefined;
  /** The unchanged `next_cursor` of the previous page; omitted for the first page. It is opaque. */
  cursor?: string | undefined;
  /**
   * Only recordings with this status: one of `queued`, `processing`, `completed`, `failed`, or several separated by
   * commas.
   */
  status?: string | undefined;
  /**
   * Only recordings created later than this. An ISO 8601 time. A date without a time means its first moment; without an
   * offset it is UTC.
   */
  created_after?: string | undefined;
  /**
   * Only recordings created earlier than this. An ISO 8601 time. A date without a time means its first moment; without
   * an offset it is UTC.
   */
  created_before?: string | undefined;
  /**
   * Your own id for this request: 1 to 128 characters of A–Z a–z 0–9 . _ : -. Anything else is replaced by a new id.
   */
  request_id?: string | undefined;
}

/** Parameters of {@link Operations.getTranscription}. */
export interface GetTranscriptionParameters {
  /**
   * Your own id for this request: 1 to 128 characters of A–Z a–z 0–9 . _ : -. Anything else is replaced by a new id.
   */
  request_id?: string | undefined;
}

/** Parameters of {@link Operations.deleteTranscription}. */
export interface DeleteTranscriptionParameters {
  /**
   * Your own id for this request: 1 to 128 characters of A–Z a–z 0–9 . _ : -. Anything else is replaced by a new id.
   */
  request_id?: string | undefined;
}

/** Parameters of {@link Operations.listSegments}. */
export interface ListSegmentsParameters {
  /** Maximum number of entries in a page. Very long ones are fewer: a page holds 2 MiB. */
  limit?: number | undefined;
  /** The unchanged `next_cursor` of the previous page; omitted for the first page. It is opaque. */
  cursor?: string | undefined;
  /** Whether each segment also has its words with their times. */
  words?: boolean | undefined;
  /**
   * Your own id for this request: 1 to 128 characters of A–Z a–z 0–9 . _ : -. Anything else is replaced by a new id.
   */
  request_id?: string | undefined;
}

/** Parameters of {@link Operations.exportTranscription}. */
export interface ExportTranscriptionParameters {
  /** The format of the file. */
  format: ExportFormat;
  /** `ETag` of a stored export. If it is still current, the answer is 304 without a body. */
  if_none_match?: string | undefined;
  /**
   * Your own id for this request: 1 to 128 characters of A–Z a–z 0–9 . _ : -. Anything else is replaced by a new id.
   */
  request_id?: string | undefined;
}

/** Parameters of {@link Operations.listLanguages}. */
export interface ListLanguagesParameters {
  /**
   * Your own id for this request: 1 to 128 characters of A–Z a–z 0–9 . _ : -. Anything else is replaced by a new id.
   */
  request_id?: string | undefined;
}

/** Parameters of {@link Operations.exportTranscriptionAs}. */
export interface ExportTranscriptionAsParameters {
  /** The text of the file: the transcript, by default, or the translation to English. */
  text?: TextName | undefined;
  /**
   * How speakers are written: with the names that people gave them, with letters, or not at all. With `names` and
   * `letters`, `srt` and `ttml` have `Name:` where the speaker changes. By default they name nobody, and the other
   * formats have letters. `tsv` and `lrc` have no speakers.
   */
  speakers?: SpeakerStyle | undefined;
  /**
   * Maximum width of a line, in columns of a Latin letter; by default 42. Only of subtitles: `srt`, `vtt`, `ttml`,
   * `podcast`.
   */
  width?: number | undefined;
  /** Maximum lines of a subtitle; by default 2. Only of subtitles: `srt`, `vtt`, `ttml`, `podcast`. */
  lines?: number | undefined;
  /** Maximum words of a subtitle; by default as many as fit. Only of subtitles: `srt`, `vtt`, `ttml`, `podcast`. */
  words?: number | undefined;
  /** File name of the recording, which the annotation program opens. Only of `eaf` and `exb`. */
  media?: string | undefined;
  /** `ETag` of a stored export. If it is still current, the answer is 304 without a body. */
  if_none_match?: string | undefined;
  /**
   * Your own id for this request: 1 to 128 characters of A–Z a–z 0–9 . _ : -. Anything else is replaced by a new id.
   */
  request_id?: string | undefined;
}

/** Parameters of {@link Operations.getTranslation}. */
export interface GetTranslationParameters {
  /** Maximum number of entries in a page. Very long ones are fewer: a page holds 2 MiB. */
  limit?: number | undefined;
  /** The unchanged `next_cursor` of the previous page; omitted for the first page. It is opaque. */
  cursor?: string | undefined;
  /** Whether each segment also has its words with their times. */
  words?: boolean | undefined;
  /**
   * Your own id for this request: 1 to 128 characters of A–Z a–z 0–9 . _ : -. Anything else is replaced by a new id.
   */
  request_id?: string | undefined;
}
