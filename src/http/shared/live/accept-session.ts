import { LiveError, type LiveSender, type LiveSessions } from "../../../live/index.ts";
import type { Logger } from "../../../telemetry/index.ts";
import { acceptSocket, asksForSocket, offeredProtocols, requireSocketRequest } from "../accept-socket.ts";
import { invalidKey } from "../access.ts";
import type { ClientSecrets } from "../client-secrets.ts";
import { readQuery } from "../query.ts";
import { contextOf } from "../request-context.ts";
import { GuardedSocket } from "./guarded-socket.ts";
import { LiveClient } from "./live-client.ts";
import { liveQuery, optionsIn } from "./live-options.ts";
import { liveRefusalToApiError } from "./live-refusal.ts";

/** The parts of the server that live sessions use. */
export interface LiveServices {
  readonly sessions: LiveSessions;
  /** Absent where requests have no client secrets. */
  readonly clientSecrets?: ClientSecrets;
  readonly log: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Subprotocol of our own protocol. Browsers expect one of those that they offer. */
const PROTOCOL = "transcribe";

/**
 * Opens or resumes a live session for a request, and connects it with the request's WebSocket by our own protocol. All
 * checks of access must have been made.
 * @throws {ApiError} 422 for a query that is not valid, 426 for a request without a WebSocket, and for each refusal
 * @throws {IntakeError} as for a create
 */
export function acceptLiveSession(request: Request, sender: LiveSender, services: LiveServices): Response {
  const query = readQuery(request, liveQuery);
  const options = optionsIn(query);
  const { sessions, log, now } = services;
  // The WebSocket of browsers hides why it is refused. The same request without one is answered with the reason.
  const isProbe = !asksForSocket(request) && query.resume === undefined;
  const { requestId } = contextOf(request);
  try {
    if (isProbe) sessions.requirePlace(sender.account);
    requireSocketRequest(request);
    const handler = new GuardedSocket(
      { log, requestId, now },
      (socket) =>
        new LiveClient(socket, (listener) =>
          query.resume === undefined
            ? { session: openSession(request, services, () => sessions.open(sender, options, listener)) }
            : sessions.resume(sender, query.resume, query.from_segment, listener),
        ),
    );
    return acceptSocket(request, handler, offeredProtocols(request).includes(PROTOCOL) ? PROTOCOL : null);
  } catch (error) {
    throw error instanceof LiveError ? liveRefusalToApiError(error.refusal, now()) : error;
  }
}

/** Runs the opening of a request's session. A client secret opens one session. @throws {ApiError} 401 for a used one */
export function openSession<Session>(
  request: Request,
  { clientSecrets }: Pick<LiveServices, "clientSecrets">,
  open: () => Session,
): Session {
  const { clientSecret } = contextOf(request);
  if (clientSecret === null) return open();
  const session = clientSecrets?.use(clientSecret, open) ?? null;
  if (session === null) throw invalidKey();
  return session;
}
