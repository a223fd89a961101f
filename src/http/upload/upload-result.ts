/** A recording as it arrived, under a temporary name, synced to disk. */
export interface ReceivedFile {
  /** Where it lies; rename it to keep it. */
  readonly path: string;
  readonly sizeBytes: number;
  /** SHA-256 of its bytes, in lower-case hex. */
  readonly sha256: string;
  /** What the client calls it: no folders, no control characters, at most 255 characters, never empty. */
  readonly name: string;
}

/** A whole, well-formed upload. Disposing of it removes the file, unless it was renamed. */
export interface ReceivedUpload extends AsyncDisposable {
  readonly ok: true;
  /** The text parts that were there; a value is cut at 8 KiB, which is over the length of any valid one. */
  readonly fields: { readonly url?: string; readonly language?: string };
  /** The part `file`, null where there was none. */
  readonly file: ReceivedFile | null;
}

/** Why an upload was not received. Nothing of it is left on disk. */
export type UploadFailure =
  /** Not multipart/form-data, or not a byte of it can be read as such. */
  | { readonly kind: "not_multipart" }
  /** It began as multipart and does not end as such. */
  | { readonly kind: "malformed" }
  /** The part `file` is over its limit. */
  | { readonly kind: "file_too_large" }
  /** The whole body is over its limit. */
  | { readonly kind: "body_too_large" }
  /** A known part came twice. */
  | { readonly kind: "duplicate_part"; readonly part: KnownPart }
  /** The bytes are not those of the request's Content-Digest. */
  | { readonly kind: "digest_mismatch" }
  /** The client went away. */
  | { readonly kind: "aborted" }
  /** The client sends more slowly than the server waits. */
  | { readonly kind: "too_slow" }
  /** No free disk space for the file. */
  | { readonly kind: "disk_full" }
  /** The account's unfinished uploads take as much of the free disk space as they may. */
  | { readonly kind: "account_share_full" };

export interface RefusedUpload {
  readonly ok: false;
  readonly failure: UploadFailure;
}

/** The parts that mean something; all others are read past. */
export type KnownPart = "file" | "url" | "language";
