import { contextOf, live, sockets } from "../../http/index.ts";
import { IntakeError } from "../../intake/index.ts";
import { LibraryError } from "../../library/index.ts";
import type { LiveSender, LiveSession, LiveSessions } from "../../live/index.ts";
import type { Logger } from "../../telemetry/index.ts";
import type { ConsoleErrorBody, LiveMessage, LiveRefused } from "../contract/index.ts";
import { ConsoleError } from "./errors.ts";

/** Interval between the checks of the people whose live sessions run. */
const CHECK_MILLISECONDS = 1000;

export interface LiveSocketOptions {
  readonly sessions: LiveSessions;
  readonly log: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** The WebSockets of live sessions in the page. */
export class LiveSockets {
  readonly #options: LiveSocketOptions;
  readonly #open = new Set<LiveSocket>();
  #timer: NodeJS.Timeout | null = null;

  constructor(options: LiveSocketOptions) {
    this.#options = options;
  }

  /**
   * Connects a request's WebSocket with a new or resumed live session.
   * @param sender its check of access is repeated while the session runs, which ends when the check throws
   * @throws {ApiError} as `acceptLiveSession`
   * @throws {IntakeError} as for a create
   */
  accept(request: Request, sender: LiveSender): Response {
    const { sessions } = this.#options;
    let session: LiveSession | null = null;
    const response = live.acceptLiveSession(request, sender, {
      ...this.#options,
      sessions: {
        open(...parts) {
          session = sessions.open(...parts);
          return session;
        },
        resume: (by, id, ...parts) => {
          this.#leave(id, sender.holder);
          const resumed = sessions.resume(by, id, ...parts);
          session = resumed.session;
          return resumed;
        },
        requirePlace: (account) => sessions.requirePlace(account),
        status: () => sessions.status(),
      },
    });
    const { socket: handler } = contextOf(request);
    if (handler === null || session === null) throw new Error("a live session has no WebSocket");
    const socket = new LiveSocket(handler, session, sender, () => this.#remove(socket));
    this.#add(socket);
    sockets.acceptSocket(request, socket);
    return response;
  }

  /** Closes all WebSockets. Their sessions can be resumed. */
  close(): void {
    for (const socket of this.#open) socket.close(live.closeCodes.goingAway, "The console is closed.");
  }

  /** Closes the earlier connection of a session, which the browser may have lost without the server's knowledge. */
  #leave(sessionId: string, holder: string): void {
    for (const socket of this.#open) {
      if (socket.session.id === sessionId && socket.sender.holder === holder) {
        socket.close(live.closeCodes.policy, "The session continues in another connection.");
      }
    }
  }

  #add(socket: LiveSocket): void {
    this.#open.add(socket);
    this.#timer ??= setInterval(() => this.#check(), CHECK_MILLISECONDS);
  }

  #remove(socket: LiveSocket): void {
    this.#open.delete(socket);
    if (this.#open.size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }

  #check(): void {
    for (const socket of this.#open) {
      try {
        socket.sender.requireAccess();
      } catch (error) {
        // If the database cannot be read now, the next check decides.
        if (isRefusal(error)) socket.expel();
        else this.#options.log.warn({ event: "console.live_check_failed", err: error });
      }
    }
  }
}

/** Returns whether an error says that the person may not do this, or no longer. */
function isRefusal(error: unknown): boolean {
  return error instanceof ConsoleError || error instanceof LibraryError || error instanceof IntakeError;
}

/** A WebSocket whose session runs on behalf of a person. */
class LiveSocket implements sockets.SocketHandler {
  readonly session: LiveSession;
  readonly sender: LiveSender;
  readonly #handler: sockets.SocketHandler;
  readonly #onClosed: () => void;
  #socket: sockets.Socket | null = null;
  #isClosed = false;

  constructor(handler: sockets.SocketHandler, session: LiveSession, sender: LiveSender, onClosed: () => void) {
    this.#handler = handler;
    this.session = session;
    this.sender = sender;
    this.#onClosed = onClosed;
  }

  open(socket: sockets.Socket): void {
    this.#socket = socket;
    if (this.#isClosed) socket.close(live.closeCodes.policy, "The session has ended.");
    else this.#handler.open(socket);
  }

  message(data: string | Uint8Array): void {
    if (!this.#isClosed) this.#handler.message(data);
  }

  ping(): void {
    if (!this.#isClosed) this.#handler.ping();
  }

  close(code: number, reason: string | null = null): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    // First the session loses its client, so that another connection can take its place at once.
    this.#handler.close(code);
    if (reason !== null) this.#socket?.close(code, reason);
    this.#onClosed();
  }

  /** Ends the session, because the person has lost the access. It becomes a recording, unless it is not kept. */
  expel(): void {
    if (this.#isClosed) return;
    this.session.leave();
    this.#socket?.send(JSON.stringify({ type: "ended", reason: "access", recording_id: null } satisfies LiveMessage));
    this.close(live.closeCodes.policy, "You are no longer signed in, or your access has changed.");
  }
}

/** Accepts a WebSocket only to tell the page why there is no session. */
export function refuseBySocket(request: Request, { error: { code, message } }: ConsoleErrorBody): Response {
  return sockets.acceptSocket(request, {
    open(socket) {
      socket.send(JSON.stringify({ type: "refused", code, message } satisfies LiveRefused));
      socket.close(live.closeCodes.policy, code);
    },
    message() {},
    ping() {},
    close() {},
  });
}
