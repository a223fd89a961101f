import { type Static, Type } from "@sinclair/typebox";
import type { liveMessages } from "../../api-contract/index.ts";
import { live } from "../../http/index.ts";
import type { Routes } from "./route.ts";

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
} as const satisfies Routes;
