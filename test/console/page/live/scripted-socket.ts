import type { LiveMessage } from "../../../../src/console/contract/index.ts";
import type { ClientSocket, Clock } from "../../../../src/console/page/live/live-connection.ts";

/** A WebSocket without a network. */
export class ScriptedSocket implements ClientSocket {
  bufferedAmount = 0;
  onmessage: ((event: MessageEvent) => void) | null = null;
  onclose: ((event: CloseEvent) => void) | null = null;
  isClosed = false;
  /** Samples that the page has sent. */
  readonly samples: number[] = [];
  /** Messages that the page has sent. */
  readonly messages: unknown[] = [];
  /** @param resume id of the session that it continues */
  constructor(readonly resume: string | null) {}

  send(data: unknown): void {
    if (typeof data === "string") this.messages.push(JSON.parse(data));
    else if (data instanceof Int16Array) this.samples.push(...data);
    else throw new Error("this is neither a message nor sound");
  }

  close(): void {
    this.isClosed = true;
  }

  /** Sends a message to the page. */
  receive(message: LiveMessage): void {
    this.onmessage?.(new MessageEvent("message", { data: JSON.stringify(message) }));
  }

  /** Opens or resumes the session. */
  begin(id: string, receivedSeconds = 0): void {
    this.receive({
      ...{ type: "session", id, sample_rate: 10, encoding: "pcm16", language: null, keep: true, segments: [] },
      received_seconds: receivedSeconds,
    });
  }

  /** Loses the connection, or refuses it. */
  lose(): void {
    this.onclose?.(new CloseEvent("close"));
  }
}

/** A clock that a test advances. */
export class ManualClock implements Clock {
  #now = 0;
  readonly #due = new Set<{ readonly at: number; readonly run: () => void }>();

  now(): number {
    return this.#now;
  }

  after(milliseconds: number, run: () => void): () => void {
    const entry = { at: this.#now + milliseconds, run };
    this.#due.add(entry);
    return () => void this.#due.delete(entry);
  }

  /** Advances the time, and runs what is due on the way. */
  pass(milliseconds: number): void {
    const until = this.#now + milliseconds;
    for (;;) {
      const [next] = [...this.#due].filter(({ at }) => at <= until).sort((a, b) => a.at - b.at);
      if (next === undefined) break;
      this.#due.delete(next);
      this.#now = next.at;
      next.run();
    }
    this.#now = until;
  }
}
