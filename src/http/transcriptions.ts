import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { Language } from "../engine/index.ts";
import type { Store } from "../storage/index.ts";
import { type Recording, type Recordings, readSegments } from "../transcriptions/index.ts";
import { basePath, keyOf } from "./access.ts";
import type { CreateTranscription } from "./create-transcription.ts";
import { decodeCursor, encodeCursor } from "./cursor.ts";
import { ApiError, notFound } from "./errors.ts";
import { readQuery } from "./query.ts";
import { segmentPageSchema, toSegment, toTranscription, transcriptionSchema } from "./resources.ts";

export interface TranscriptionServices {
  readonly store: Store;
  readonly recordings: Recordings;
  readonly languages: readonly Language[];
  readonly createTranscription: CreateTranscription;
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

const segmentQuery = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 1000, default: 100, description: "a whole number from 1 to 1000" }),
  cursor: Type.Optional(Type.String({ description: "next_cursor of the page before" })),
});

/** POST /transcriptions, GET /transcriptions/{id}, GET /transcriptions/{id}/segments. */
export function transcriptionRoutes({ store, recordings, createTranscription }: TranscriptionServices) {
  /** @throws 404 for what is unknown, not an id, or another account's: all the same to the caller */
  const requireRecording = (request: Request, { id = "" }: Readonly<Record<string, string>>): Recording => {
    const recording = uuid.test(id) ? recordings.get(id) : null;
    if (recording === null || recording.accountId !== keyOf(request).accountId) throw notFound();
    return recording;
  };

  return (
    new Elysia({ name: "transcriptions", prefix: "/transcriptions" })
      .post(
        "",
        async ({ request, set }) => {
          const recording = await createTranscription(request, keyOf(request));
          set.status = 201;
          set.headers.location = `${basePath}/transcriptions/${recording.id}`;
          return toTranscription(recording);
        },
        // The body is a recording of any size: it is streamed to disk, never parsed into memory.
        { parse: "none", response: { 201: transcriptionSchema } },
      )
      // Runs before validation: who may not see a recording is told nothing of its requests' form.
      .derive(({ request, params }) => ({ recording: requireRecording(request, params) }))
      .get("/:id", ({ recording }) => toTranscription(recording), { response: { 200: transcriptionSchema } })
      .get(
        "/:id/segments",
        ({ recording, request }) => {
          const { limit, cursor } = readQuery(request, segmentQuery);
          if (recording.status !== "completed") {
            throw new ApiError("transcription_is_not_ready", `The transcription is ${recording.status}.`);
          }
          const from = decodeCursor(cursor);
          const rows = readSegments(store, recording.id, from, limit + 1);
          const data = rows.slice(0, limit).map(toSegment);
          const hasMore = rows.length > limit;
          return { data, has_more: hasMore, next_cursor: hasMore ? encodeCursor(from + limit) : "" };
        },
        { response: { 200: segmentPageSchema } },
      )
  );
}
