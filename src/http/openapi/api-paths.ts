import type { OpenAPIV3 } from "openapi-types";
import { exportFormats } from "../../exports/index.ts";
import { exportQuery, listQuery, segmentQuery } from "../query.ts";
import { createOperation } from "./create-operation.ts";
import { completedExample, failedExample, processingExample, queuedExample, segmentExamples } from "./examples.ts";
import { answerHeaders } from "./headers.ts";
import { jsonAnswer, operation } from "./operations.ts";
import { parameter } from "./parameters.ts";
import { refer, schemaOf } from "./schemas.ts";
import { queryParameters } from "./to-openapi.ts";

const list = operation({
  operationId: "listTranscriptions",
  summary: "List recordings",
  description:
    "Recordings, newest first: those of the key's workspace, or all of the account where the key is pinned to none. Pages " +
    "stay as they are while recordings arrive: one that came later shows on the first page alone. A parameter that comes " +
    "twice or is out of its range is refused, nothing is clamped; unknown ones are ignored.",
  scope: "transcriptions:read",
  parameters: queryParameters(listQuery, refer),
  success: {
    200: jsonAnswer("A page.", schemaOf("TranscriptionPage"), {
      lastPage: {
        value: {
          data: [{ ...completedExample, progress: { step: null } }],
          has_more: false,
          next_cursor: "",
        },
      },
    }),
  },
  errors: ["ScopeForbidden", "InvalidRequest"],
});

const get = operation({
  operationId: "getTranscription",
  summary: "Get a recording",
  description: "One recording as it stands. Poll this, see *Polling* above.",
  scope: "transcriptions:read",
  success: {
    200: jsonAnswer("The recording.", schemaOf("Transcription"), {
      queued: { value: queuedExample },
      processing: { value: processingExample },
      completed: { value: completedExample },
      failed: { value: failedExample },
    }),
  },
  errors: ["RecordingForbidden", "NotFound"],
});

const remove = operation({
  operationId: "deleteTranscription",
  summary: "Delete a recording",
  description:
    "Removes the recording, its audio and its text for good. One that is queued or processing can't be deleted, and neither " +
    "can one that the operator holds. A create with its `Idempotency-Key` gives 404 from then on.",
  scope: "transcriptions:delete",
  success: { 204: { description: "It is gone.", headers: answerHeaders() } },
  errors: ["DeletionForbidden", "NotFound", "StillProcessing"],
});

const segments = operation({
  operationId: "listSegments",
  summary: "Read the transcript",
  description: "What was said, by whom and when, in pages. Only of a completed recording.",
  scope: "transcriptions:read",
  parameters: queryParameters(segmentQuery, refer),
  success: {
    200: jsonAnswer("A page.", schemaOf("SegmentPage"), {
      firstPage: { value: { data: segmentExamples, has_more: true, next_cursor: "aTI" } },
    }),
  },
  errors: ["RecordingForbidden", "NotFound", "NotReady", "InvalidRequest"],
});

const binary = { type: "string", format: "binary" } as const;

const exportFile = operation({
  operationId: "exportTranscription",
  summary: "Download the transcript",
  description:
    "The transcript as a file; texts are in UTF-8. The same recording gives the same bytes, so keep the `ETag` and ask with " +
    "`If-None-Match`. Only of a completed recording. Exports of different accounts are made in turns, those of one account one after " +
    "the other. Read an answer as it comes: one that takes longer than a minute and 16 KiB a second is cut.",
  scope: "transcriptions:read",
  parameters: [...queryParameters(exportQuery, refer), parameter("IfNoneMatch")],
  success: {
    200: {
      description: "The file.",
      headers: answerHeaders("ETag", "Content-Disposition"),
      content: Object.fromEntries(
        Object.values(exportFormats).map(({ mediaType }) => {
          const [type = mediaType] = mediaType.split(";");
          return [
            type,
            { schema: type.startsWith("application/") && !type.includes("subrip") ? binary : { type: "string" } },
          ];
        }),
      ),
    },
    304: { description: "It still is what `If-None-Match` names.", headers: answerHeaders("ETag") },
  },
  errors: ["RecordingForbidden", "NotFound", "NotReady", "InvalidRequest"],
});

const languages = operation({
  operationId: "listLanguages",
  summary: "List languages",
  description: "The languages that the model in use knows. A create takes these codes.",
  scope: null,
  success: {
    200: jsonAnswer("All of them.", schemaOf("Languages"), {
      some: {
        value: {
          data: [
            { code: "de", name: "German" },
            { code: "en", name: "English" },
            { code: "jv", name: "Javanese" },
          ],
        },
      },
    }),
  },
  errors: ["AccountForbidden"],
});

const ofRecording = [parameter("TranscriptionId")];

/** Returns the paths below the API's base path. */
export function apiPaths(limits: Parameters<typeof createOperation>[0]): OpenAPIV3.PathsObject {
  return {
    "/transcriptions": { post: createOperation(limits), get: list },
    "/transcriptions/{id}": { parameters: ofRecording, get, delete: remove },
    "/transcriptions/{id}/segments": { parameters: ofRecording, get: segments },
    "/transcriptions/{id}/export": { parameters: ofRecording, get: exportFile },
    "/languages": { get: languages },
  };
}
