import { IntakeError, type IntakeRefusal } from "../../../intake/index.ts";
import { ApiError, invalidField } from "../errors.ts";

/** Reason why an upload was not received. Nothing of the upload is left on disk. */
export type UploadFailure =
  /** The body is not multipart/form-data, or not a byte of it can be parsed as such. */
  | { readonly kind: "not_multipart" }
  /** The body begins as multipart but is not well-formed to its end. */
  | { readonly kind: "malformed" }
  /** The form has more parts than the server reads. */
  | { readonly kind: "too_many_parts"; readonly most: number }
  /** The part `file` exceeds its limit. */
  | { readonly kind: "file_too_large" }
  /** The whole body exceeds its limit. */
  | { readonly kind: "body_too_large" }
  /** A part that may occur once occurs twice. */
  | { readonly kind: "duplicate_part"; readonly part: string }
  /** The bytes do not match the request's Content-Digest. */
  | { readonly kind: "digest_mismatch" }
  /** The client disconnected. */
  | { readonly kind: "aborted" }
  /** The client sends too slowly, see PaceLimits. */
  | { readonly kind: "too_slow" }
  | Extract<IntakeRefusal, { readonly kind: "disk_full" | "account_share_full" }>;

/** Returns the error with which a failed upload is answered. */
export function toUploadError(failure: UploadFailure, maxFileBytes: number): ApiError | IntakeError {
  switch (failure.kind) {
    case "not_multipart":
      return new ApiError("bad_request", "Send the recording as multipart/form-data.");
    case "malformed":
      return new ApiError(
        "uploaded_file_cannot_be_processed",
        "The upload is not well-formed to its end; send it again.",
      );
    case "too_many_parts":
      return new ApiError(
        "uploaded_file_cannot_be_processed",
        `The form has too many parts; send at most ${failure.most}.`,
      );
    case "digest_mismatch":
      return new ApiError(
        "uploaded_file_cannot_be_processed",
        "The upload does not match its Content-Digest; send it again.",
      );
    case "duplicate_part":
      return invalidField(failure.part, "Send this part once.");
    case "file_too_large":
      return invalidField("file", `The file is larger than ${maxFileBytes} bytes.`);
    case "body_too_large":
      return new ApiError(
        "file_too_large",
        `The request is larger than this server accepts; a file may have ${maxFileBytes} bytes.`,
      );
    case "disk_full":
    case "account_share_full":
      return new IntakeError(failure);
    case "too_slow":
      // The connection must close: the rest of the body would be read as the next request.
      return new ApiError("bad_request", "The upload was too slow. Send it again over a faster connection.", {
        headers: { Connection: "close" },
      });
    case "aborted":
      // The client has disconnected, so nobody receives this answer.
      return new ApiError("bad_request", "The connection was lost during the upload.");
  }
}
