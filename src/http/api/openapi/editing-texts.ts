import type { TSchema } from "@sinclair/typebox";
import type { OpenAPIV3 } from "openapi-types";
import type { Operation } from "../../shared/operations.ts";
import { editingOperations } from "../editing/operations.ts";
import { apiHeaders, type HeaderName, parameter } from "./components.ts";
import { completedExample, queuedExample } from "./examples.ts";
import type { OperationText } from "./operation-text.ts";
import { refer } from "./schemas.ts";
import { toOpenApi } from "./to-openapi.ts";

type Answer = Pick<OperationText, "success" | "requestBody">;

/**
 * Returns the documentation of an operation's body and of its successful answer in JSON.
 * @param example of the answer
 */
function json(
  operation: Operation & { readonly response: TSchema },
  description: string,
  example: unknown,
  { status = 200, headers = ["ETag"] }: { status?: 200 | 202; headers?: readonly HeaderName[] } = {},
): Answer {
  const { body, response } = operation;
  const schema = toOpenApi(response, refer);
  const success: OpenAPIV3.ResponsesObject = {
    [status]: {
      description,
      headers: apiHeaders(...headers),
      content: { "application/json": { schema, examples: { usual: { value: example } } } },
    },
  };
  if (body === undefined || Object.keys(body.properties).length === 0) return { success };
  const content = { "application/json": { schema: toOpenApi(body, refer) } };
  return { success, requestBody: { required: true, content } };
}

const processing = {
  processing: {
    status: "queued",
    progress: queuedExample.progress,
    failure_reason: null,
    created_at: "2026-11-21T08:00:00.123+00:00",
  },
};

const voices = {
  enabled: true,
  data: [
    {
      id: "019aa5a3-1f00-7d2e-8a51-6f0b1c2d3e4f",
      name: "Ada Lovelace",
      created_at: "2026-11-21T08:00:00.123+00:00",
      recordings: 2,
      seconds: 84.5,
    },
  ],
};

const ofTranscript = ["RecordingForbidden", "NotFound"] as const;
const ofChange = ["BadRequest", ...ofTranscript, "FileTooLarge", "InvalidRequest"] as const;

/** Documentation of the operations that change recordings and transcripts. */
export const editingTexts: Record<keyof typeof editingOperations, OperationText> = {
  cancelTranscription: {
    summary: "Cancel a recording",
    description:
      "Ends a queued or processing recording. It becomes `failed` with the reason `internal`, its audio is refunded, and its " +
      "slot is free within two seconds. Of a completed recording that is being processed again, only that is cancelled. A " +
      "recording that was cancelled can be cancelled again. The body is empty.",
    parameters: [parameter("EditIdempotencyKey")],
    ...json(
      editingOperations.cancelTranscription,
      "The recording.",
      { ...queuedExample, status: "failed", failure_reason: "internal" },
      { headers: ["Idempotency-Replayed"] },
    ),
    errors: [...ofChange, "CancelConflict"],
  },
  listSpeakers: {
    summary: "List the speakers",
    description: "The speakers of a transcript, in order of first appearance, with the names that somebody gave.",
    ...json(
      editingOperations.listSpeakers,
      "The speakers.",
      { revision: 3, data: [{ speaker: "A", name: "Ada" }] },
      { headers: [] },
    ),
    errors: [...ofTranscript, "NotReady"],
  },
  nameSpeakers: {
    summary: "Name speakers",
    description:
      "Gives names to speakers, or removes them. Exports with `speakers=names` and the console show them; segments and exports " +
      "of version 1 keep the letters. A name makes no revision.",
    parameters: [parameter("IfMatchOptional")],
    ...json(
      editingOperations.nameSpeakers,
      "All speakers.",
      { revision: 3, data: [{ speaker: "A", name: "Ada" }] },
      {},
    ),
    errors: [...ofChange, "NotReady", "PreconditionFailed"],
  },
  mergeSpeakers: {
    summary: "Merge two speakers",
    description:
      "Assigns all segments of a speaker to another one. Later letters may change, because letters are in order of first " +
      "appearance.",
    parameters: [parameter("IfMatch"), parameter("EditIdempotencyKey")],
    ...json(
      editingOperations.mergeSpeakers,
      "The latest revision.",
      { revision: 4 },
      {
        headers: ["ETag", "Idempotency-Replayed"],
      },
    ),
    errors: [...ofChange, "EditConflict", "PreconditionFailed", "PreconditionRequired"],
  },
  correctSegments: {
    summary: "Correct segments",
    description:
      "Gives segments another text or another speaker, as one revision. An empty text removes the segment. Times of words are " +
      "kept as far as possible. All corrections are made, or none.",
    parameters: [parameter("IfMatch"), parameter("EditIdempotencyKey")],
    ...json(
      editingOperations.correctSegments,
      "The latest revision.",
      { revision: 4 },
      {
        headers: ["ETag", "Idempotency-Replayed"],
      },
    ),
    errors: [...ofChange, "EditConflict", "PreconditionFailed", "PreconditionRequired"],
  },
  listRevisions: {
    summary: "List revisions",
    description:
      "The stored revisions of a transcript, newest first. The ETag is the latest revision, which corrections send as " +
      "`If-Match`: read it before the segments.",
    ...json(editingOperations.listRevisions, "A page.", {
      data: [
        { number: 3, author: "the key reports", at: "2026-11-21T08:00:00.123+00:00", action: "text", segments: 1 },
      ],
      has_more: false,
      next_cursor: "",
      revision: 3,
    }),
    errors: [...ofTranscript, "NotReady", "InvalidRequest"],
  },
  getRevision: {
    summary: "Read an earlier transcript",
    description: "The segments of the transcript as it was after a revision, or as it was recognized (0), in pages.",
    parameters: [parameter("RevisionNumber")],
    ...json(editingOperations.getRevision, "A page.", {
      data: [{ index: 0, start: 0.12, end: 1.4, speaker: "A", text: "Good morning." }],
      has_more: false,
      next_cursor: "",
      revision: 3,
    }),
    errors: [...ofTranscript, "NotReady", "InvalidRequest"],
  },
  compareRevision: {
    summary: "Compare revisions",
    description:
      "The differences between the transcript after a revision and the latest, or the one of `other`, in pages.",
    parameters: [parameter("RevisionNumber")],
    ...json(
      editingOperations.compareRevision,
      "A page.",
      {
        data: [
          {
            index: 0,
            before: [{ start: 0.12, speaker: "A", text: "Good mourning." }],
            after: [{ start: 0.12, speaker: "A", text: "Good morning." }],
          },
        ],
        total: 1,
        has_more: false,
        next_cursor: "",
        revision: 3,
      },
      { headers: [] },
    ),
    errors: [...ofTranscript, "NotReady", "InvalidRequest"],
  },
  restoreRevision: {
    summary: "Restore a revision",
    description:
      "Restores the transcript as it was after a revision, or as it was recognized (0). What was changed since stays in the " +
      "revisions. A long transcript is restored in several revisions. If somebody corrects it meanwhile, the answer is 412, and " +
      "the rest is as before. The body is empty.",
    parameters: [parameter("RevisionNumber"), parameter("IfMatch"), parameter("EditIdempotencyKey")],
    ...json(
      editingOperations.restoreRevision,
      "The latest revision.",
      { revision: 4 },
      {
        headers: ["ETag", "Idempotency-Replayed"],
      },
    ),
    errors: [...ofChange, "EditConflict", "PreconditionFailed", "PreconditionRequired"],
  },
  getProcessing: {
    summary: "Get the processing again",
    description:
      "Whether a completed recording is being processed again, or that has failed. The transcript stays readable meanwhile.",
    ...json(editingOperations.getProcessing, "Its status.", processing, { headers: [] }),
    errors: [...ofTranscript],
  },
  processAgain: {
    summary: "Process a recording again",
    description:
      "Transcribes a completed recording again, with another model, language, prompt or number of speakers. The recording stays " +
      "`completed` and readable. When it has been processed, the transcript becomes a revision, which can be taken back by " +
      "restoring the one before. Names of speakers stay where the voices match. It takes one of the account's places, and audio " +
      "of its daily allowance.",
    parameters: [parameter("EditIdempotencyKey")],
    ...json(editingOperations.processAgain, "It is queued.", processing, {
      status: 202,
      headers: ["Idempotency-Replayed"],
    }),
    errors: [...ofChange, "ProcessConflict"],
  },
  listVoices: {
    summary: "List the remembered voices",
    description:
      "The voices that the account remembers, whose names are proposed for speakers in the console. A key that is pinned to a " +
      "workspace has no access, because voices belong to the account.",
    ...json(editingOperations.listVoices, "All voices.", voices, { headers: [] }),
    errors: ["RecordingForbidden"],
  },
  renameVoice: {
    summary: "Rename a voice",
    description: "Gives a voice another name. The names of speakers in recordings stay.",
    parameters: [parameter("VoiceId")],
    ...json(editingOperations.renameVoice, "All voices.", voices, { headers: [] }),
    errors: ["BadRequest", "RecordingForbidden", "NotFound", "FileTooLarge", "InvalidRequest"],
  },
  deleteVoice: {
    summary: "Delete a voice",
    description: "Deletes a voice with its examples. The names of speakers in recordings stay.",
    parameters: [parameter("VoiceId")],
    success: { 204: { description: "The voice is deleted.", headers: apiHeaders() } },
    errors: ["RecordingForbidden", "NotFound"],
  },
  getTags: {
    summary: "Get the tags of a recording",
    description: "The tags of a recording, sorted.",
    ...json(editingOperations.getTags, "The tags.", { tags: ["2026", "board"] }, { headers: [] }),
    errors: [...ofTranscript],
  },
  setTags: {
    summary: "Replace the tags of a recording",
    description:
      "Replaces all tags of a recording, whatever its status; an empty list removes them. `GET /transcriptions` accepts a tag, " +
      "too: `tag=board`.",
    ...json(editingOperations.setTags, "The tags.", { tags: ["2026", "board"] }, { headers: [] }),
    errors: [...ofChange],
  },
  searchTranscriptions: {
    summary: "Search in transcripts",
    description:
      "Recordings whose transcript or name has the searched words, newest first: those of the key's workspace, or all of the " +
      "account. Upper and lower case and accents don't matter.",
    ...json(
      editingOperations.searchTranscriptions,
      "A page.",
      {
        data: [
          {
            transcription: { ...completedExample, progress: { step: null } },
            tags: ["board"],
            hits: [{ index: 3, start: 12.5, text: "The annual budget.", marks: [{ start: 11, end: 17 }] }],
            has_more_hits: false,
          },
        ],
        has_more: false,
        next_cursor: "",
        is_partial: false,
      },
      { headers: [] },
    ),
    errors: ["ScopeForbidden", "InvalidRequest"],
  },
};
