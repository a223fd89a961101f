import { type TSchema, Type } from "@sinclair/typebox";
import type { OpenAPIV3 } from "openapi-types";
import type { Settings } from "../../../config/index.ts";
import { contractFormats } from "../../../exports/index.ts";
import type { Operation } from "../../shared/operations.ts";
import { wantedWorkersSchema } from "../../shared/wanted-workers.ts";
import { editingOperations } from "../editing/operations.ts";
import { furtherOperations, operations } from "../operations.ts";
import { apiHeaders, commonHeaders, type ErrorAnswerName, errors, jsonAnswer, parameter } from "./components.ts";
import { editingTexts } from "./editing-texts.ts";
import { completedExample, failedExample, processingExample, queuedExample, segmentExamples } from "./examples.ts";
import { contentOf, exportAnswers, furtherTexts } from "./export-answers.ts";
import type { OperationText } from "./operation-text.ts";
import { refer, schemaOf } from "./schemas.ts";
import { queryParameters, type Schema, toOpenApi } from "./to-openapi.ts";

/** Returns a link from a created recording to an operation on it. */
const ofCreated = (operationId: keyof typeof operations) => ({
  operationId,
  parameters: { id: "$response.body#/id" },
});

/** Returns the documentation of each operation. @param limits as set on the server */
function operationTexts(limits: Settings["limits"]): Record<keyof typeof operations, OperationText> {
  const hours = Math.round((limits.recording_seconds / 3600) * 100) / 100;
  return {
    createTranscription: {
      summary: "Send a recording",
      description: [
        "Accepts one recording, as a file or as a link, and answers at once with its record; it is processed later. The " +
          "recording belongs to the key's workspace, or to none.",
        `A file may have ${limits.upload_bytes.toLocaleString("en")} bytes and last ${hours} hours. A larger file, an empty one, or ` +
          "one without an audio track is refused with 422 under `file`. A request that is larger by more than 64 MiB is refused " +
          "with 413, before it is read if its `Content-Length` shows this. If a link can't be fetched or its recording is too " +
          "long, the recording fails with `internal`.",
        "Hints improve the transcript: `prompt` has names and terms of the recording, and `speakers`, or `min_speakers` and " +
          "`max_speakers`, the number of its speakers. A hint that is not valid is 422 under its name.",
        "Neither or both of `file` and `url` is 422 under `url`; a part that occurs twice is 422 under its name; unknown parts are " +
          "ignored. Parts may come in any order.",
        "Checked in this order: `Content-Length`; the `Idempotency-Key`, and whether its request is in progress; for a new key the " +
          "rate limits, then the number of recordings of the account; the body and its fields; the body against that of a known key.",
        "**Idempotency.** With an `Idempotency-Key` the first answer is stored for 24 hours. The same key with the same body (the " +
          "file's bytes and name, url, language and hints) gives that answer again, byte for byte, with `Idempotency-Replayed: true`. 201 and " +
          "every 422 are stored; after any other answer, or none, the key is free. The key belongs to the account and the key's " +
          "workspace. A replay uses up no quota and is refused by no limit on creates. After the recording was deleted, the key " +
          "gives 404.",
      ].join("\n\n"),
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
            poll: ofCreated("getTranscription"),
            segments: ofCreated("listSegments"),
            export: ofCreated("exportTranscription"),
            delete: ofCreated("deleteTranscription"),
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
    },
    listTranscriptions: {
      summary: "List recordings",
      description:
        "Recordings, newest first: those of the key's workspace, or all of the account if the key is pinned to none. Pages " +
        "stay the same while recordings arrive: a newer recording appears on the first page only. A parameter that occurs " +
        "twice or is out of its range is refused, nothing is clamped; unknown parameters are ignored.",
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
    },
    getTranscription: {
      summary: "Get a recording",
      description: "One recording with its current status. Poll this, see *Polling* above.",
      success: {
        200: jsonAnswer("The recording.", schemaOf("Transcription"), {
          queued: { value: queuedExample },
          processing: { value: processingExample },
          completed: { value: completedExample },
          failed: { value: failedExample },
        }),
      },
      errors: ["RecordingForbidden", "NotFound"],
    },
    deleteTranscription: {
      summary: "Delete a recording",
      description:
        "Removes the recording, its audio and its text permanently. A recording that is queued or processing, or that the " +
        "operator protects, can't be deleted. A create with its `Idempotency-Key` gives 404 from then on.",
      success: { 204: { description: "The recording is deleted.", headers: apiHeaders() } },
      errors: ["DeletionForbidden", "NotFound", "StillProcessing"],
    },
    listSegments: {
      summary: "Read the transcript",
      description:
        "The segments of the transcript, with speakers and times, in pages. Only of a completed recording. With `words=true` " +
        "each segment also has its words with their times.",
      success: {
        200: jsonAnswer("A page.", schemaOf("SegmentPage"), {
          firstPage: { value: { data: segmentExamples, has_more: true, next_cursor: "aTI" } },
        }),
      },
      errors: ["RecordingForbidden", "NotFound", "NotReady", "InvalidRequest"],
    },
    exportTranscription: {
      summary: "Download the transcript",
      description:
        "The transcript as a file; texts are in UTF-8. `txt`, `pdf` and `docx` are documents for readers; `srt`, `vtt` and `lrc` " +
        "are subtitles; `json`, `csv` and `tsv` are data for programs; `textgrid` (Praat), `eaf` (ELAN 3.0) and `rttm` (NIST) " +
        "are annotations. The same recording gives the same bytes, so store the `ETag` and send it " +
        "as `If-None-Match`. Only of a completed recording. Exports of different accounts are generated in round robin, those of " +
        "one account one after the other. Read an answer as it arrives: one that takes longer than a minute and 16 KiB a second " +
        "is cut.",
      parameters: [parameter("IfNoneMatch")],
      success: exportAnswers(contentOf(contractFormats)),
      errors: ["RecordingForbidden", "NotFound", "NotReady", "InvalidRequest"],
    },
    listLanguages: {
      summary: "List languages",
      description: "The languages of the model in use. A create accepts these codes.",
      success: {
        200: jsonAnswer("All languages.", schemaOf("Languages"), {
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
    },
  };
}

/** Returns an operation in OpenAPI form, with the common parameters, answers and headers. */
function describe(
  operationId: string,
  { scope, query }: Operation,
  text: OperationText,
  tag: string,
): OpenAPIV3.OperationObject {
  const { summary, description, success, parameters = [], requestBody } = text;
  const needs = scope === null ? "Any key may do this." : `The key needs the scope \`${scope}\`.`;
  return {
    operationId,
    summary,
    tags: [tag],
    description: `${description}\n\n${needs}`,
    parameters: [...queryParameters(query, refer), ...parameters, parameter("RequestId")],
    ...(requestBody === undefined ? {} : { requestBody }),
    responses: {
      ...success,
      ...errors("Unauthorized", ...text.errors, "MethodNotAllowed", "RateLimited", "InternalError"),
    },
  };
}

/** Returns the paths below the API's base path. */
export function apiPaths(limits: Settings["limits"]): OpenAPIV3.PathsObject {
  const paths: Record<string, OpenAPIV3.PathItemObject> = {};
  const texts = operationTexts(limits);
  const add = (id: string, operation: Operation, text: OperationText, tag: string) => {
    const path = operation.path.replaceAll(/:(\w+)/g, "{$1}");
    const item = paths[path] ?? (path.includes("{id}") ? { parameters: [parameter("TranscriptionId")] } : {});
    const method = operation.method.toLowerCase() as Lowercase<Operation["method"]>;
    paths[path] = { ...item, [method]: describe(id, operation, text, tag) };
  };
  for (const id of Object.keys(operations) as (keyof typeof operations)[]) add(id, operations[id], texts[id], "API");
  for (const id of Object.keys(editingOperations) as (keyof typeof editingOperations)[]) {
    add(id, editingOperations[id], editingTexts[id], "Editing");
  }
  for (const id of Object.keys(furtherOperations) as (keyof typeof furtherOperations)[]) {
    const { tag, ...text } = furtherTexts[id];
    add(id, furtherOperations[id], text, tag);
  }
  return paths;
}

/** Answers of the probes of load balancers. */
export const aliveSchema = Type.Object({ status: Type.Literal("alive") });
export const readySchema = Type.Object({
  status: Type.Literal("ready"),
  warning: Type.Optional(
    Type.String({ description: "What makes work slow or unreliable, for example a memory limit that is too low" }),
  ),
});

interface ServiceText {
  readonly operationId: string;
  readonly summary: string;
  readonly mediaType: string;
  readonly schema: Schema;
}

/** Returns the description of a path outside the API's base path: GET, without a key. */
function servicePath(text: ServiceText, ...more: readonly ErrorAnswerName[]): OpenAPIV3.PathItemObject {
  const { operationId, summary, mediaType, schema } = text;
  return {
    servers: [{ url: "/" }],
    get: {
      operationId,
      summary,
      tags: ["Service"],
      security: [],
      parameters: [parameter("RequestId")],
      responses: {
        200: { description: "See the summary.", headers: commonHeaders(), content: { [mediaType]: { schema } } },
        ...errors("MethodNotAllowed", "InternalError", ...more),
      },
    },
  };
}

function json(operationId: string, summary: string, schema: TSchema): ServiceText {
  return { operationId, summary, mediaType: "application/json", schema: toOpenApi(schema) };
}

/** Paths that the server offers in addition to the API, relative to its root. */
export const servicePaths: OpenAPIV3.PathsObject = {
  "/healthz": servicePath(json("getHealth", "Whether the server is alive", aliveSchema)),
  "/readyz": servicePath(
    json("getReadiness", "Whether the server is ready to accept work", readySchema),
    "Unavailable",
  ),
  "/metrics": servicePath(
    {
      operationId: "getMetrics",
      summary: "Metrics in Prometheus's text format, for this machine only unless configured otherwise",
      mediaType: "text/plain",
      schema: { type: "string" },
    },
    "Forbidden",
  ),
  "/fleet/workers": servicePath(
    json(
      "getFleetWorkers",
      "Number of workers that the server's fleet needs, for this machine only unless the metrics are open to others",
      wantedWorkersSchema,
    ),
    "Forbidden",
    "NotFound",
  ),
  "/openapi.json": servicePath({
    operationId: "getOpenApi",
    summary: "This document",
    mediaType: "application/json",
    schema: { type: "object" },
  }),
  "/docs": servicePath({
    operationId: "getDocs",
    summary: "This document as a page",
    mediaType: "text/html",
    schema: { type: "string" },
  }),
};
