import type { Overview } from "../contract/index.ts";
import type { ConsoleSession, Sessions } from "./entry/index.ts";
import { ConsoleError } from "./errors.ts";
import { readOverview } from "./overview.ts";
import type { ConsoleServices } from "./services.ts";

/** Interval between reads of the overview. The progress of a recording changes every few seconds. */
const READ_INTERVAL_MILLISECONDS = 1000;
/** Interval of the comments on a silent connection. Proxies wait longer than this before they close one. */
const HEARTBEAT_MILLISECONDS = 15_000;
/**
 * Maximum age of the last event before the next one. Memory and disk figures change all the time and do not trigger an
 * event; all other changes do.
 */
const MAX_EVENT_AGE_MILLISECONDS = 10_000;
/**
 * Maximum number of readers, in total and for one session. Each reader holds a connection; people have a few windows
 * open.
 */
const MAX_READERS = 50;
const MAX_READERS_OF_SESSION = 10;

interface Reader {
  readonly session: ConsoleSession;
  readonly controller: ReadableStreamDefaultController<Uint8Array>;
  /** Whether the last event was skipped, because the reader had not read the one before. */
  isBehind: boolean;
}

const encoder = new TextEncoder();

/**
 * Streams the overview as server-sent events (WHATWG HTML, 9.2). It is read only while somebody is connected, once for
 * all readers.
 */
export class OverviewFeed {
  readonly #services: ConsoleServices;
  readonly #sessions: Sessions;
  readonly #readers = new Set<Reader>();
  #timer: NodeJS.Timeout | null = null;
  #isReading = false;
  #isClosed = false;
  #last = { steady: "", event: new Uint8Array(), at: 0 };
  #sentAt = 0;

  constructor(services: ConsoleServices, sessions: Sessions) {
    this.#services = services;
    this.#sessions = sessions;
  }

  /**
   * Returns a response that sends the overview at once and after every change, until the session ends.
   * @throws {ConsoleError} 429 if the session or all sessions together have too many readers, 503 if the server is
   * stopping
   */
  open(session: ConsoleSession): Response {
    if (this.#isClosed) throw new ConsoleError("service_unavailable", "The server is stopping.");
    const own = [...this.#readers].filter((reader) => reader.session.hash === session.hash).length;
    if (this.#readers.size >= MAX_READERS || own >= MAX_READERS_OF_SESSION) {
      throw new ConsoleError("too_many_attempts", "Too many windows show the console; close some of them.", {
        retryMilliseconds: 10_000,
      });
    }
    let reader: Reader;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        reader = { session, controller, isBehind: false };
        this.#readers.add(reader);
        // A comment, so that the browser sees that the response has begun.
        controller.enqueue(encoder.encode(":\n\n"));
        if (this.#last.at > 0) controller.enqueue(this.#last.event);
        this.#start();
      },
      cancel: () => this.#remove(reader),
    });
    return new Response(body, { headers: { "Content-Type": "text/event-stream", "X-Accel-Buffering": "no" } });
  }

  /** Ends all responses and refuses new ones. */
  close(): void {
    this.#isClosed = true;
    for (const reader of this.#readers) this.#end(reader);
  }

  #start(): void {
    if (this.#timer !== null) return;
    this.#timer = setInterval(() => void this.#update(), READ_INTERVAL_MILLISECONDS);
    void this.#update();
  }

  #remove(reader: Reader): void {
    this.#readers.delete(reader);
    if (this.#readers.size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
    this.#last = { steady: "", event: new Uint8Array(), at: 0 };
  }

  #end(reader: Reader): void {
    this.#remove(reader);
    reader.controller.close();
  }

  async #update(): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      for (const reader of this.#readers) if (!this.#sessions.isActive(reader.session)) this.#end(reader);
      const overview = await readOverview(this.#services);
      const now = this.#services.now();
      const steady = JSON.stringify(withoutFigures(overview));
      if (steady !== this.#last.steady || now - this.#last.at >= MAX_EVENT_AGE_MILLISECONDS) {
        const event = encoder.encode(`event: overview\ndata: ${JSON.stringify(overview)}\n\n`);
        this.#last = { steady, event, at: now };
        this.#send(event);
      } else if (now - this.#sentAt >= HEARTBEAT_MILLISECONDS) this.#send(encoder.encode(":\n\n"));
      else {
        this.#catchUp();
        return;
      }
      this.#sentAt = now;
    } catch (error) {
      // If the database cannot be read now, the next interval retries.
      this.#services.log.warn({ event: "console.overview_failed", err: error });
    } finally {
      this.#isReading = false;
    }
  }

  #send(bytes: Uint8Array): void {
    for (const reader of this.#readers) {
      // A slow reader skips this event, so that it never has more than one in memory.
      reader.isBehind = (reader.controller.desiredSize ?? 0) <= 0;
      if (!reader.isBehind) reader.controller.enqueue(bytes);
    }
  }

  /** Sends the last event to the readers that have skipped one and read again. */
  #catchUp(): void {
    for (const reader of this.#readers) {
      if (!reader.isBehind || (reader.controller.desiredSize ?? 0) <= 0) continue;
      reader.isBehind = false;
      reader.controller.enqueue(this.#last.event);
    }
  }
}

/** Returns the overview without the figures that change all the time. */
function withoutFigures({ memory: _memory, disk: _disk, ...steady }: Overview) {
  return steady;
}
