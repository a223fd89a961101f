import { BadAnswerError, LiveClosedError, NoAnswerError } from "../errors.ts";
import type { ApiRequest, Transport } from "../transport.ts";
import { parseMessage, type ServerMessage } from "./messages.ts";
import type { LiveSocket } from "./socket.ts";

/** Receives what happens on a connection. Both are called in order, and `onClosed` once. */
interface ConnectionEvents {
  readonly onMessage: (message: ServerMessage) => void;
  /** The connection was refused or lost. */
  readonly onClosed: (error: unknown) => void;
}

/** The answer of a server that does not accept a WebSocket, as the package ws reports it. */
interface Refusal extends AsyncIterable<Uint8Array<ArrayBuffer>> {
  readonly statusCode?: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

const MAX_REFUSAL_BYTES = 64 * 1024;
/** Status of the answer to a request that is fine, but does not ask for a WebSocket. */
const UPGRADE_REQUIRED = 426;

/** One connection of a session. The first message is `session`. */
export class Connection {
  readonly #transport: Transport;
  readonly #request: Pick<ApiRequest, "path" | "query">;
  readonly #events: ConnectionEvents;
  readonly #socket: LiveSocket;
  #isStarted = false;
  #isClosed = false;
  readonly #timer: ReturnType<typeof setTimeout>;

  /** @param timeoutSeconds time until the first message */
  constructor(
    transport: Transport,
    request: Pick<ApiRequest, "path" | "query">,
    timeoutSeconds: number,
    events: ConnectionEvents,
  ) {
    this.#transport = transport;
    this.#request = request;
    this.#events = events;
    const socket = transport.webSocket(request);
    this.#socket = socket;
    const late = new NoAnswerError(`${transport.baseUrl} did not answer in time`, true);
    this.#timer = setTimeout(() => this.abandon(late), timeoutSeconds * 1000);
    let isOpen = false;
    socket.addEventListener("open", () => {
      isOpen = true;
    });
    socket.addEventListener("message", ({ data }) => this.#receive(data));
    // The event `close` follows.
    socket.addEventListener("error", () => {});
    socket.addEventListener("close", ({ code, reason }) => {
      if (isOpen) this.#close(new LiveClosedError(code, reason));
      else void this.#explain();
    });
    if ("on" in socket && typeof socket.on === "function") {
      socket.on("unexpected-response", (_: unknown, refusal: Refusal) => void this.#refuse(refusal));
    }
  }

  get bufferedBytes(): number {
    return this.#socket.bufferedAmount;
  }

  send(data: string | Uint8Array<ArrayBuffer>): void {
    if (!this.#isClosed) this.#socket.send(data);
  }

  /** Closes the connection at once, for a reason of this side. */
  abandon(error: unknown): void {
    this.#close(error);
    this.#socket.close();
  }

  #receive(data: unknown): void {
    if (this.#isClosed) return;
    const message = parseMessage(data);
    if (message === null) return;
    if (message === "bad" || (message.type === "session") === this.#isStarted) {
      this.abandon(new BadAnswerError(`${this.#transport.baseUrl} sent a message that is not of the API`));
      return;
    }
    clearTimeout(this.#timer);
    this.#isStarted = true;
    this.#events.onMessage(message);
  }

  #close(error: unknown): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#events.onClosed(error);
  }

  /** Reports the server's refusal. */
  async #refuse(refusal: Refusal): Promise<void> {
    const headers = new Headers();
    for (const [name, value] of Object.entries(refusal.headers)) headers.set(name, String(value));
    const chunks: Uint8Array<ArrayBuffer>[] = [];
    let size = 0;
    try {
      for await (const chunk of refusal) {
        size += chunk.length;
        if (size > MAX_REFUSAL_BYTES) break;
        chunks.push(chunk);
      }
    } catch {
      // The status and the headers suffice.
    }
    const status = refusal.statusCode ?? 0;
    const isRefusal = status >= 400 && status < 600;
    const response = isRefusal ? new Response(new Blob(chunks), { status, headers }) : Response.error();
    this.#close(await this.#transport.refusalOf(response));
    this.#socket.close();
  }

  /**
   * Reports why no WebSocket was opened. The standard's WebSocket hides this, so the same request is made without one.
   */
  async #explain(): Promise<void> {
    if (this.#isClosed) return;
    const error = await this.#transport.failureOf({ method: "GET", ...this.#request });
    const isNone =
      error === null || (error instanceof Object && "status" in error && error.status === UPGRADE_REQUIRED);
    const message = `${this.#transport.baseUrl} accepts no WebSocket`;
    this.#close(isNone ? new NoAnswerError(message, true) : error);
  }
}
