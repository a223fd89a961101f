import { ApiError, invalidField, noRoom } from "./errors.ts";
import type { UploadFailure } from "./upload/index.ts";

/** Returns the error with which a failed upload is answered. */
export function toUploadError(failure: UploadFailure, maxFileBytes: number): ApiError {
  switch (failure.kind) {
    case "not_multipart":
      return new ApiError("bad_request", "Send the recording as multipart/form-data.");
    case "malformed":
      return new ApiError(
        "uploaded_file_cannot_be_processed",
        "The upload is not well-formed to its end; send it again.",
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
        `The request is larger than this server takes; a file may have ${maxFileBytes} bytes.`,
      );
    case "disk_full":
      return noRoom("There is no room to store the upload now.");
    case "account_share_full":
      return noRoom(
        "Unfinished uploads of one account may take a part of the free disk space, and this upload exceeds it. Send the recording again when other uploads of this account have finished.",
      );
    case "too_slow":
      // The connection must close: the rest of the body would be read as the next request.
      return new ApiError("bad_request", "The upload was too slow. Send it again over a faster connection.", {
        headers: { Connection: "close" },
      });
    case "aborted":
      // The client has disconnected, so nobody receives this answer.
      return new ApiError("bad_request", "The upload broke off.");
  }
}
