import { Type } from "@sinclair/typebox";
import { editing, transcriptionSchema } from "../../../api-contract/index.ts";
import type { Operation } from "../../shared/operations.ts";
import { pageQuery, searchQuery } from "../../shared/query.ts";

const noQuery = Type.Object({});
const comparisonQuery = Type.Composite([
  pageQuery(1000, 100),
  Type.Object({
    other: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 1_000_000_000,
        description: "the number of a revision",
        documented: { description: "The later revision to compare with; by default the latest." },
      }),
    ),
  }),
]);
const noBody = Type.Object({});

/** Operations that change recordings and transcripts, by operationId. The contract of version 1 does not have them. */
export const editingOperations = {
  cancelTranscription: {
    method: "POST",
    path: "/transcriptions/:id/cancel",
    scope: "transcriptions:edit",
    query: noQuery,
    body: noBody,
    response: transcriptionSchema,
  },
  listSpeakers: {
    method: "GET",
    path: "/transcriptions/:id/speakers",
    scope: "transcriptions:read",
    query: noQuery,
    response: editing.speakersSchema,
  },
  nameSpeakers: {
    method: "PATCH",
    path: "/transcriptions/:id/speakers",
    scope: "transcriptions:edit",
    query: noQuery,
    body: editing.speakerNamesSchema,
    response: editing.speakersSchema,
  },
  mergeSpeakers: {
    method: "POST",
    path: "/transcriptions/:id/speakers/merge",
    scope: "transcriptions:edit",
    query: noQuery,
    body: editing.speakerMergeSchema,
    response: editing.correctedSchema,
  },
  // Not a PATCH of the segments: version 1 answers that with 405, and lists the methods.
  correctSegments: {
    method: "POST",
    path: "/transcriptions/:id/corrections",
    scope: "transcriptions:edit",
    query: noQuery,
    body: editing.correctionsSchema,
    response: editing.correctedSchema,
  },
  listRevisions: {
    method: "GET",
    path: "/transcriptions/:id/revisions",
    scope: "transcriptions:read",
    query: pageQuery(100, 100),
    response: editing.revisionPageSchema,
  },
  getRevision: {
    method: "GET",
    path: "/transcriptions/:id/revisions/:number",
    scope: "transcriptions:read",
    query: pageQuery(1000, 100),
    response: editing.revisionSegmentsSchema,
  },
  compareRevision: {
    method: "GET",
    path: "/transcriptions/:id/revisions/:number/comparison",
    scope: "transcriptions:read",
    query: comparisonQuery,
    response: editing.comparisonSchema,
  },
  restoreRevision: {
    method: "POST",
    path: "/transcriptions/:id/revisions/:number/restore",
    scope: "transcriptions:edit",
    query: noQuery,
    body: noBody,
    response: editing.correctedSchema,
  },
  getProcessing: {
    method: "GET",
    path: "/transcriptions/:id/process",
    scope: "transcriptions:read",
    query: noQuery,
    response: editing.processingSchema,
  },
  processAgain: {
    method: "POST",
    path: "/transcriptions/:id/process",
    scope: "transcriptions:edit",
    query: noQuery,
    body: editing.processAgainSchema,
    response: editing.processingSchema,
  },
  listVoices: {
    method: "GET",
    path: "/voices",
    scope: "transcriptions:read",
    query: noQuery,
    response: editing.voicesSchema,
  },
  renameVoice: {
    method: "PUT",
    path: "/voices/:voice",
    scope: "transcriptions:edit",
    query: noQuery,
    body: editing.voiceNameSchema,
    response: editing.voicesSchema,
  },
  getTags: {
    method: "GET",
    path: "/transcriptions/:id/tags",
    scope: "transcriptions:read",
    query: noQuery,
    response: editing.tagsSchema,
  },
  setTags: {
    method: "PUT",
    path: "/transcriptions/:id/tags",
    scope: "transcriptions:edit",
    query: noQuery,
    body: editing.newTagsSchema,
    response: editing.tagsSchema,
  },
  searchTranscriptions: {
    method: "GET",
    path: "/search",
    scope: "transcriptions:read",
    query: searchQuery,
    response: editing.foundPageSchema,
  },
  deleteVoice: { method: "DELETE", path: "/voices/:voice", scope: "transcriptions:edit", query: noQuery },
} as const satisfies Record<string, Operation>;
