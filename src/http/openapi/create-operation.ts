import type { OpenAPIV3 } from "openapi-types";
import type { Settings } from "../../config/index.ts";
import { queuedExample } from "./examples.ts";
import { jsonAnswer, operation } from "./operations.ts";
import { parameter } from "./parameters.ts";
import { schemaOf } from "./schemas.ts";

const toRecording = (operationId: string) => ({ operationId, parameters: { id: "$response.body#/id" } });

/** Returns the description of POST /transcriptions. */
export function createOperation(limits: Settings["limits"]): OpenAPIV3.OperationObject {
  const hours = Math.round((limits.recording_seconds / 3600) * 100) / 100;
  return operation({
    operationId: "createTranscription",
    summary: "Send a recording",
    description: [
      "Takes one recording, as a file or as a link, and answers at once with its record; the work is done later. The " +
        "recording belongs to the key's workspace, or to none.",
      `A file may have ${limits.upload_bytes.toLocaleString("en")} bytes and last ${hours} hours. A larger file, an empty one, or ` +
        "one without an audio track is refused with 422 under `file`; a request that is larger by more than 64 MiB with 413, " +
        "before it is read where its `Content-Length` says so. A link that can't be fetched, or whose recording proves too " +
        "long, gives a recording that fails with `internal`.",
      "Neither or both of `file` and `url` is 422 under `url`; a part that comes twice is 422 under its name; unknown parts are " +
        "ignored. Parts may come in any order.",
      "Checked in this order: `Content-Length`; the `Idempotency-Key`, and whether its request is in progress; for a new key the " +
        "rate limits, then the places of the account; the body and its fields; the body against that of a known key.",
      "**Idempotency.** With an `Idempotency-Key` the first answer is kept for 24 hours. The same key with the same body (the " +
        "file's bytes and name, url and language) gives that answer again, byte for byte, with `Idempotency-Replayed: true`. 201 and " +
        "every 422 are kept; after any other answer, or none, the key is free. The key belongs to the account and the key's " +
        "workspace. A replay spends no allowance and is refused by no limit on creates. After the recording was deleted the key " +
        "gives 404.",
    ].join("\n\n"),
    scope: "transcriptions:write",
    parameters: [parameter("IdempotencyKey"), parameter("ContentDigest")],
    requestBody: {
      required: true,
      content: { "multipart/form-data": { schema: schemaOf("TranscriptionForm") } },
    },
    success: {
      201: {
        ...jsonAnswer(
          "The recording, `queued`.",
          schemaOf("Transcription"),
          { queued: { value: queuedExample } },
          "Location",
          "Idempotency-Replayed",
        ),
        links: {
          poll: toRecording("getTranscription"),
          segments: toRecording("listSegments"),
          export: toRecording("exportTranscription"),
          delete: toRecording("deleteTranscription"),
        },
      },
    },
    errors: [
      "BadRequest",
      "ScopeForbidden",
      "NotFound",
      "CreateConflict",
      "FileTooLarge",
      "InvalidUpload",
      "Unavailable",
    ],
  });
}
