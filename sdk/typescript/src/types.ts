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

/** A speaker of a transcript. */
export interface Speaker {
  /** The letter in segments and exports. */
  speaker: string;
  /** The name that somebody gave; null for none. */
  name: string | null;
}

/** The speakers of a transcript, in order of first appearance. */
export interface Speakers {
  /** Number of the latest revision of the transcript; 0 as it was recognized. Send it as `If-Match: "N"`. */
  revision: number;
  data: Speaker[];
}

/** Names of speakers. */
export interface SpeakerNames {
  /**
   * Names by the letters of speakers; null and an empty name remove one. Speakers that are not mentioned keep theirs.
   */
  names: Record<string, string | null>;
}

/** Two speakers who are the same person. */
export interface SpeakerMerge {
  /** The speaker who disappears. */
  speaker: string;
  /** The speaker who gets the segments. */
  into: string;
}

/** The latest revision after a change. */
export interface Corrected {
  /** Number of the latest revision of the transcript; 0 as it was recognized. Send it as `If-Match: "N"`. */
  revision: number;
}

/** A new text or another speaker of a segment, or both. */
export interface SegmentCorrection {
  /** The segment's `index`, in the revision of `If-Match`. */
  index: number;
  /** The new text. An empty one removes the segment. Words keep their times as far as possible. */
  text?: string;
  /** The speaker, who is certain from then on. `new`: one more speaker, the same in the whole request. */
  speaker?: string;
}

/** Corrections of segments, which become one revision. */
export interface Corrections {
  /** Corrections of 1 to 100 segments, each once. All are made, or none. */
  corrections: SegmentCorrection[];
}

export type RevisionAction =
  | "text"
  | "delete"
  | "split"
  | "merge"
  | "assign"
  | "merge_speakers"
  | "replace"
  | "revert"
  | "redo"
  | "restore"
  | "process"
  | "respell";

/** A revision of a transcript. */
export interface Revision {
  /** Numbers increase, and some are missing: typing continues a revision. */
  number: number;
  /** A person, a key (`the key NAME`), or `the operator`. */
  author: string;
  /** Time of the revision. */
  at: string;
  /** What was done; `process`: the recording was processed again. */
  action: RevisionAction;
  /** Number of segments that it changed. */
  segments: number;
}

/** The stored revisions of a transcript, newest first, and the number of the latest. */
export interface RevisionPage {
  data: Revision[];
  /** Whether there is a next page. */
  has_more: boolean;
  /** Send it as `cursor` for the next page. Empty on the last. */
  next_cursor: string;
  /** Number of the latest revision of the transcript; 0 as it was recognized. Send it as `If-Match: "N"`. */
  revision: number;
}

/** Segments of the transcript as it was after a revision. */
export interface RevisionSegments {
  data: Segment[];
  /** Whether there is a next page. */
  has_more: boolean;
  /** Send it as `cursor` for the next page. Empty on the last. */
  next_cursor: string;
  /** Number of this revision. */
  revision: number;
}

/** A segment in a comparison. */
export interface ComparedSegment {
  /** Seconds from the beginning. */
  start: number;
  /** Letter of the speaker, in the order of this revision's speakers. */
  speaker: string;
  text: string;
}

/** A part of a transcript that differs. */
export interface Difference {
  /** Index in the later transcript. */
  index: number;
  /** The segments after the revision. */
  before: ComparedSegment[];
  /** The segments in the later transcript. */
  after: ComparedSegment[];
}

/** Differences between the transcript after a revision and a later one. */
export interface Comparison {
  data: Difference[];
  /** Number of differences in the whole transcript. */
  total: number;
  /** Whether there is a next page. */
  has_more: boolean;
  /** Send it as `cursor` for the next page. Empty on the last. */
  next_cursor: string;
  /** Number of the latest revision of the transcript; 0 as it was recognized. Send it as `If-Match: "N"`. */
  revision: number;
}

/** Choices for processing a recording again. */
export interface ProcessAgain {
  /** Id of an installed model, as in `GET /v1/models`. By default the model in use. */
  model?: string | undefined;
  /** Code of a language of the model; null detects it. By default the language that was sent with the recording. */
  language?: string | null | undefined;
  /** Names and terms, as in a create. An empty prompt is none. By default as in the create. */
  prompt?: string | undefined;
  /** `translate` for an English translation as well, `transcribe` for none. By default as before. */
  task?: Task | undefined;
  /** a whole number from 1 to 50 */
  speakers?: number | undefined;
  /** a whole number from 1 to 50 */
  min_speakers?: number | undefined;
  /** a whole number from 1 to 50 */
  max_speakers?: number | undefined;
}

export type ProcessingProcessingStatus = "queued" | "processing" | "failed";

/** Null if the recording is not processed again, or has been. */
export interface ProcessingProcessing {
  status: ProcessingProcessingStatus;
  /** Progress to show to people. Only `status` shows whether processing has ended. */
  progress: TranscriptionProgress;
  /**
   * Null unless `failed`. `no_speech`: no speech was found. `too_short`: less than half a second of audio.
   * `quota_exceeded`: the account's audio quota of the day was used up when processing was to begin. `internal`: a
   * fault of the service, a link that could not be fetched, or a recording that is too long.
   */
  failure_reason: TranscriptionFailureReason | null;
  created_at: string;
}

/** Whether a recording is processed again. */
export interface Processing {
  /** Null if the recording is not processed again, or has been. */
  processing: ProcessingProcessing | null;
}

/** A voice that the account remembers. */
export interface Voice {
  id: string;
  /** The name that is proposed for speakers with this voice. */
  name: string;
  created_at: string;
  /** Number of recordings that it is compared by. */
  recordings: number;
  /** Seconds of clean speech in them. */
  seconds: number;
}

/** The voices that the account remembers. */
export interface Voices {
  /** Whether the account remembers voices; the operator decides this. */
  enabled: boolean;
  /** Sorted by name. */
  data: Voice[];
}

/** A name of a voice. */
export interface VoiceName {
  /** A name that no other voice of the account has. */
  name: string;
}

/** The tags of a recording. */
export interface Tags {
  /**
   * At most 20 tags of 1 to 50 characters, without commas. Upper and lower case differ. Answers have each once, sorted.
   */
  tags: string[];
}

/** A part of a text, in UTF-16 code units. */
export interface Mark {
  start: number;
  end: number;
}

/** A segment that has the searched words. */
export interface Hit {
  /** Index of the segment. */
  index: number;
  /** Seconds from the beginning. */
  start: number;
  /** The segment's text around the first match; `…` marks omitted text. */
  text: string;
  /** The matches in `text`. */
  marks: Mark[];
}

/** A recording whose transcript or name has the searched words. */
export interface FoundTranscription {
  transcription: ListedTranscription;
  tags: string[];
  /** The first three segments; none if only the recording's name matches. */
  hits: Hit[];
  /** Whether more segments match. */
  has_more_hits: boolean;
}

/** Recordings that match, newest first. */
export interface FoundPage {
  data: FoundTranscription[];
  /** Whether there is a next page. */
  has_more: boolean;
  /** Send it as `cursor` for the next page. Empty on the last. */
  next_cursor: string;
  /** Whether recordings are still being added to the index, so that a later search may find more. */
  is_partial: boolean;
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
  | "transcription_has_ended"
  | "audio_not_stored"
  | "precondition_failed"
  | "file_too_large"
  | "validation_failed"
  | "uploaded_file_cannot_be_processed"
  | "playlist_not_acceptable"
  | "precondition_required"
  | "rate_limited"
  | "internal_error"
  | "service_unavailable";

export interface Splice {
  /** Where the segments begin, after the splices before this one. */
  index: number;
  /** Number of segments that are gone. */
  removed: number;
  /** The segments in their place. */
  segments: Segment[];
}

/** What others have changed since the revision of `If-Match`. */
export interface LaterChanges {
  /** Number of the latest revision of the transcript; 0 as it was recognized. Send it as `If-Match: "N"`. */
  revision: number;
  /** Names of those who changed the transcript. */
  authors: string[];
  /** The changes, to apply one after the other. Null if they are many: read the transcript again. */
  splices: Splice[] | null;
}

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
  changes?: LaterChanges;
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

/** Parameters of {@link Operations.cancelTranscription}. */
export interface CancelTranscriptionParameters {
  /**
   * Identifies this request, so that it is executed once however often it is sent, as in a create: the first answer is
   * stored for 24 hours. 1 to 255 visible ASCII characters.
   */
  idempotency_key?: string | undefined;
  /**
   * Your own id for this request: 1 to 128 characters of A–Z a–z 0–9 . _ : -. Anything else is replaced by a new id.
   */
  request_id?: string | undefined;
}

/** Parameters of {@link Operations.listSpeakers}. */
export interface ListSpeakersParameters {
  /**
   * Your own id for this request: 1 to 128 characters of A–Z a–z 0–9 . _ : -. Anything else is replaced by a new id.
   */
  request_id?: string | undefined;
}

/** Parameters of {@link Operations.nameSpeakers}. */
export interface NameSpeakersParameters {
  /** ETag of the revision that you have read. If the transcript has another one by now, the answer is 412. */
  if_match?: string | undefined;
  /**
   * Your own id for this request: 1 to 128 characters of A–Z a–z 0–9 . _ : -. Anything else is replaced by a new id.
   */
  request_id?: string | undefined;
}

/** Parameters of {@link Operations.mergeSpeakers}. */
export interface MergeSpeakersParameters {
  /**
   * ETag of the revision that you have read: its number in quotes. If the transcript has another one by now, the answer
   * is 412 with what was changed. Without it, 428.
   */
  if_match?: string | undefined;
  /**
   * Identifies this request, so that it is executed once however often it is sent, as in a create: the first answer is
   * stored for 24 hours. 1 to 255 visible ASCII characters.
   */
  idempotency_key?: string | undefined;
  /**
   * Your own id for this request: 1 to 128 characters of A–Z a–z 0–9 . _ : -. Anything else is replaced by a new id.
   */
  request_id?: string | undefined;
}

/** Parameters of {@link Operations.correctSegments}. */
export interface CorrectSegmentsParameters {
  /**
   * ETag of the revision that you have read: its number in quotes. If the transcript has another one by now, the answer
   * is 412 with what was changed. Without it, 428.
   */
  if_match?: string | undefined;
  /**
   * Identifies this request, so that it is executed once however often it is sent, as in a create: the first answer is
   * stored for 24 hours. 1 to 255 visible ASCII characters.
   */
  idempotency_key?: string | undefined;
  /**
   * Your own id for this request: 1 to 128 characters of A–Z a–z 0–9 . _ : -. Anything else is replaced by a new id.
   */
  request_id?: string | undefined;
}

/** Parameters of {@link Operations.listRevisions}. */
export interface ListRevisionsParameters {
  /** Maximum number of entries in a page. Very long ones are fewer: a page holds 2 MiB. */
  limit?: number | undefined;
  /** The unchanged `next_cursor` of the previous page; omitted for the first page. It is opaque. */
  cursor?: string | undefined;
  /**
   * Your own id for this request: 1 to 128 characters of A–Z a–z 0–9 . _ : -. Anything else is replaced by a new id.
   */
  request_id?: string | undefined;
}

/** Parameters of {@link Operations.getRevision}. */
export interface GetRevisionParameters {
  /** Maximum number of entries in a page. Very long ones are fewer: a page holds 2 MiB. */
  limit?: number | undefined;
  /** The unchanged `next_cursor` of the previous page; omitted for the first page. It is opaque. */
  cursor?: string | undefined;
  /**
   * Your own id for this request: 1 to 128 characters of A–Z a–z 0–9 . _ : -. Anything else is replaced by a new id.
   */
  request_id?: string | undefined;
}

/** Parameters of {@link Operations.compareRevision}. */
export interface CompareRevisionParameters {
  /** Maximum number of entries in a page. Very long ones are fewer: a page holds 2 MiB. */
  limit?: number | undefined;
  /** The unchanged `next_cursor` of the previous page; omitted for the first page. It is opaque. */
  cursor?: string | undefined;
  /** The later revision to compare with; by default the latest. */
  other?: number | undefined;
  /**
   * Your own id for this request: 1 to 128 characters of A–Z a–z 0–9 . _ : -. Anything else is replaced by a new id.
   */
  request_id?: string | undefined;
}

/** Parameters of {@link Operations.restoreRevision}. */
export interface RestoreRevisionParameters {
  /**
   * ETag of the revision that you have read: its number in quotes. If the transcript has another one by now, the answer
   * is 412 with what was changed. Without it, 428.
   */
  if_match?: string | undefined;
  /**
   * Identifies this request, so that it is executed once however often it is sent, as in a create: the first answer is
   * stored for 24 hours. 1 to 255 visible ASCII characters.
   */
  idempotency_key?: string | undefined;
  /**
   * Your own id for this request: 1 to 128 characters of A–Z a–z 0–9 . _ : -. Anything else is replaced by a new id.
   */
  request_id?: string | undefined;
}

/** Parameters of {@link Operations.processAgain}. */
export interface ProcessAgainParameters {
  /**
   * Identifies this request, so that it is executed once however often it is sent, as in a create: the first answer is
   * stored for 24 hours. 1 to 255 visible ASCII characters.
   */
  idempotency_key?: string | undefined;
  /**
   * Your own id for this request: 1 to 128 characters of A–Z a–z 0–9 . _ : -. Anything else is replaced by a new id.
   */
  request_id?: string | undefined;
}

/** Parameters of {@link Operations.getProcessing}. */
export interface GetProcessingParameters {
  /**
   * Your own id for this request: 1 to 128 characters of A–Z a–z 0–9 . _ : -. Anything else is replaced by a new id.
   */
  request_id?: string | undefined;
}

/** Parameters of {@link Operations.listVoices}. */
export interface ListVoicesParameters {
  /**
   * Your own id for this request: 1 to 128 characters of A–Z a–z 0–9 . _ : -. Anything else is replaced by a new id.
   */
  request_id?: string | undefined;
}

/** Parameters of {@link Operations.renameVoice}. */
export interface RenameVoiceParameters {
  /**
   * Your own id for this request: 1 to 128 characters of A–Z a–z 0–9 . _ : -. Anything else is replaced by a new id.
   */
  request_id?: string | undefined;
}

/** Parameters of {@link Operations.deleteVoice}. */
export interface DeleteVoiceParameters {
  /**
   * Your own id for this request: 1 to 128 characters of A–Z a–z 0–9 . _ : -. Anything else is replaced by a new id.
   */
  request_id?: string | undefined;
}

/** Parameters of {@link Operations.getTags}. */
export interface GetTagsParameters {
  /**
   * Your own id for this request: 1 to 128 characters of A–Z a–z 0–9 . _ : -. Anything else is replaced by a new id.
   */
  request_id?: string | undefined;
}

/** Parameters of {@link Operations.setTags}. */
export interface SetTagsParameters {
  /**
   * Your own id for this request: 1 to 128 characters of A–Z a–z 0–9 . _ : -. Anything else is replaced by a new id.
   */
  request_id?: string | undefined;
}

/** Parameters of {@link Operations.searchTranscriptions}. */
export interface SearchTranscriptionsParameters {
  /**
   * Words that one segment has, in any order, or the recording's name. Words in quotation marks follow each other. The
   * last word may be the beginning of one.
   */
  q: string;
  /** Only recordings with this tag. */
  tag?: string | undefined;
  /**
   * Only recordings with this status: one of `queued`, `processing`, `completed`, `failed`, or several separated by
   * commas.
   */
  status?: string | undefined;
  /** Maximum number of entries in a page. Very long ones are fewer: a page holds 2 MiB. */
  limit?: number | undefined;
  /** The unchanged `next_cursor` of the previous page; omitted for the first page. It is opaque. */
  cursor?: string | undefined;
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
