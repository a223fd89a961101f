import { type Static, Type } from "@sinclair/typebox";
import type { liveMessages } from "../../api-contract/index.ts";
import { live } from "../../http/index.ts";
import type { Routes } from "./route.ts";
import { afterSchema, countSchema, nullable, secondsSchema } from "./shared.ts";

/**
 * Instead of the first message: the server does not open or resume the session, and closes the WebSocket. Browsers do
 * not show a page the answer to a request that becomes no WebSocket.
 */
const refusedSchema = Type.Object({
  type: Type.Literal("refused"),
  /** Code and message as in an error response. */
  code: Type.String(),
  message: Type.String(),
});
export type LiveRefused = Static<typeof refusedSchema>;

/** A message of the server: of the API's own protocol for live sessions, or a refusal. */
export type LiveMessage = liveMessages.ServerMessage | LiveRefused;
/** Words of a live session that do not change any more. */
export type LiveSegment = liveMessages.Segment;

export const liveComparisonSchema = Type.Object({
  /** Parts of some seconds, in order. */
  parts: Type.Array(
    Type.Object({
      start: secondsSchema,
      /** The words of the live session, and those of the transcript at the same time. */
      live: Type.String(),
      transcript: Type.String(),
    }),
  ),
  /** Value of `after` for the next request; null if these are the last parts. */
  next_after: nullable(countSchema),
});
export type LiveComparison = Static<typeof liveComparisonSchema>;

const ownerId = Type.String({ maxLength: 64 });

/** Transcription while people speak. */
export const liveRoutes = {
  /**
   * A WebSocket with the messages of the API's own protocol for live sessions, and its query. The session belongs to the
   * person who is signed in, and ends with the sign-out. If the same person resumes it, an earlier connection is closed.
   */
  live: {
    at: "GET /live",
    access: "member",
    query: Type.Composite([Type.Object({ account: ownerId, workspace: Type.Optional(ownerId) }), live.liveQuery]),
    answer: "socket",
  },
  /** The live text of a recording and its transcript. No parts if the recording was no live session. */
  liveComparison: {
    at: "GET /recordings/:id/live-comparison",
    access: "reader",
    query: Type.Object({ after: afterSchema }),
    answer: liveComparisonSchema,
  },
} as const satisfies Routes;
