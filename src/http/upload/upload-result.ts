/** A received recording under a temporary name, synced to disk. */
export interface ReceivedFile {
  /** Path of the file; rename the file to keep it. */
  readonly path: string;
  readonly sizeBytes: number;
  /** SHA-256 of its bytes, in lower-case hex. */
  readonly sha256: string;
  /** The client's file name: no folders, no control characters, at most 255 characters, never empty. */
  readonly name: string;
}

/** A complete, well-formed upload. Disposing of it removes the file, unless it was renamed. */
export interface ReceivedUpload extends AsyncDisposable {
  readonly ok: true;
  /** The text parts of the form. A value is cut at 8 KiB, which exceeds the length of any valid value. */
  readonly fields: { readonly url?: string; readonly language?: string };
  /** The part `file`; null if there was none. */
  readonly file: ReceivedFile | null;
}

/** Reason why an upload was not received. Nothing of the upload is left on disk. */
export type UploadFailure =
  /** The body is not multipart/form-data, or not a byte of it can be parsed as such. */
  | { readonly kind: "not_multipart" }
  /** The body begins as multipart but is not well-formed to its end. */
  | { readonly kind: "malformed" }
  /** The part `file` exceeds its limit. */
  | { readonly kind: "file_too_large" }
  /** The whole body exceeds its limit. */
  | { readonly kind: "body_too_large" }
  /** A known part occurs twice. */
  | { readonly kind: "duplicate_part"; readonly part: KnownPart }
  /** The bytes do not match the request's Content-Digest. */
  | { readonly kind: "digest_mismatch" }
  /** The client disconnected. */
  | { readonly kind: "aborted" }
  /** The client sends too slowly, see PaceLimits. */
  | { readonly kind: "too_slow" }
  /** There is no free disk space for the file. */
  | { readonly kind: "disk_full" }
  /** The account's unfinished uploads exceed their share of the free disk space. */
  | { readonly kind: "account_share_full" };

export interface RefusedUpload {
  readonly ok: false;
  readonly failure: UploadFailure;
}

/** Parts with a meaning; all others are ignored. */
export type KnownPart = "file" | "url" | "language";
