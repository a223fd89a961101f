import { describe, expect, test } from "bun:test";
import {
  Client,
  type ClientOptions,
  type LiveEnded,
  type LiveEvent,
  type LiveSocket,
} from "../../sdk/typescript/src/index.ts";
import { TestClock } from "../support/cli-client.ts";

const KEY = "trs_key";
const id = "01890a5d-ac96-774b-bcce-b302099a8057";
const started = {
  ...{ type: "session", id, sample_rate: 16_000, encoding: "pcm16", language: null, keep: true },
  ...{ received_seconds: 0, segments: [] },
};
const final = (number: number, speaker: string | null) => ({
  type: "final",
  turn: "a",
  segment: { number, start: number, end: number + 1, text: `${number}`, speaker, words: [] },
});
const ended: LiveEnded = { type: "ended", reason: "client", recording_id: id };

/** A WebSocket whose other side is the test. */
class TestSocket implements LiveSocket {
  buffered = 0;
  #looks = 0;
  #onLook: (looks: number) => void = () => {};
  readonly sent: (string | Uint8Array)[] = [];
  isClosed = false;
  readonly #listeners: Record<string, (event: never) => void> = {};
  readonly url: string;

  constructor(url: string) {
    this.url = url;
  }

  get bufferedAmount(): number {
    this.#onLook(++this.#looks);
    return this.buffered;
  }

  /** Waits until the client has looked at the buffer some times more. */
  async looks(more = 4): Promise<void> {
    const wanted = this.#looks + more;
    await new Promise<void>((resolve) => {
      this.#onLook = (looks) => void (looks >= wanted && resolve());
    });
  }

  addEventListener(type: string, listener: (event: never) => void): void {
    this.#listeners[type] = listener;
  }

  send(data: string | Uint8Array): void {
    this.sent.push(data);
  }

  close(): void {
    this.isClosed = true;
  }

  says(...messages: object[]): void {
    for (const message of messages) this.#emit("message", { data: JSON.stringify(message) });
  }

  opens(first: object = started): void {
    this.#emit("open", {});
    this.says(first);
  }

  ends(code: number): void {
    this.#emit("close", { code, reason: "" });
  }

  #emit(type: string, event: object): void {
    this.#listeners[type]?.(event as never);
  }
}

/** The sockets that a client opens. */
class Sockets {
  readonly clock = new TestClock();
  readonly #opened: TestSocket[] = [];
  #wanted = Promise.withResolvers<TestSocket>();
  /** Called for each socket. */
  onSocket: (socket: TestSocket) => void = () => {};

  client(options: Partial<ClientOptions> = {}): Client {
    const note = (socket: TestSocket) => {
      this.#opened.push(socket);
      this.onSocket(socket);
      this.#wanted.resolve(socket);
      this.#wanted = Promise.withResolvers();
    };
    const webSocket = class extends TestSocket {
      constructor(url: string) {
        super(url);
        note(this);
      }
    };
    const fetch = async () => Response.json({ error: "bad_request", message: "No." }, { status: 426 });
    return new Client({ baseUrl: "http://server", key: KEY, clock: this.clock, webSocket, fetch, ...options });
  }

  /** Waits for the next socket that is opened. */
  next(): Promise<TestSocket> {
    return this.#wanted.promise;
  }

  get count(): number {
    return this.#opened.length;
  }
}

/** Opens a session on a first socket. */
async function open(options: Partial<ClientOptions> = {}, signal?: AbortSignal) {
  const sockets = new Sockets();
  const first = sockets.next();
  const opening = sockets.client(options).live({ signal });
  const socket = await first;
  socket.opens();
  return { session: await opening, socket, sockets };
}

async function read(events: AsyncIterable<LiveEvent>): Promise<LiveEvent[]> {
  return await Array.fromAsync(events);
}

describe("a live session", () => {
  test("gives a connection with a full buffer no more sound until the buffer was sent", async () => {
    const { session, socket } = await open();
    socket.buffered = 300_000;
    await session.send(new Uint8Array(640));
    await socket.looks();
    expect(socket.sent).toEqual([]);
    socket.buffered = 0;
    await socket.looks(2);
    expect(socket.sent.map(({ length }) => length)).toEqual([640]);
    session.close();
  });

  test("lets a program wait when two and a half minutes of sound wait, until some of it was sent", async () => {
    const { session, socket } = await open();
    socket.buffered = 300_000;
    await session.send(new Uint8Array(150 * 32_000));
    let isSent = false;
    const sending = session.send(new Uint8Array(640)).then(() => {
      isSent = true;
    });
    await socket.looks();
    expect(isSent).toBe(false);
    socket.buffered = 0;
    await sending;
    session.close();
  });

  test("is resumed when a full buffer does not shrink for 20 s", async () => {
    const { session, socket, sockets } = await open();
    socket.buffered = 300_000;
    await session.send(new Uint8Array(640));
    const second = sockets.next();
    await sockets.clock.sleep(21_000, undefined);
    (await second).opens();
    expect(socket.isClosed).toBe(true);
    expect((await second).sent.map(({ length }) => length)).toEqual([640]);
    expect((await second).url).toBe(`ws://server/api/public/v1/live?resume=${id}&from_segment=0`);
    session.close();
  });

  test("ends with the last error when no connection succeeds for two minutes", async () => {
    const { session, socket, sockets } = await open();
    sockets.onSocket = (refused) => queueMicrotask(() => refused.ends(1006));
    socket.ends(1006);
    await expect(read(session)).rejects.toMatchObject({ name: "NoAnswerError", isTemporary: true });
    const { sleeps } = sockets.clock;
    expect(sleeps.reduce((sum, pause) => sum + pause)).toBeWithin(120_000, 125_001);
    expect(sleeps.slice(0, 5)).toEqual([500, 1000, 2000, 4000, 5000]);
    await expect(session.send(new Uint8Array(2))).rejects.toMatchObject({ name: "NoAnswerError" });
    await expect(session.end()).rejects.toMatchObject({ name: "NoAnswerError" });
  });

  test("is resumed after the server has stopped, and requests segments whose speaker is not known again", async () => {
    const { session, socket, sockets } = await open();
    const second = sockets.next();
    socket.says(final(0, "S1"), final(1, null), final(2, "S1"), { ...ended, reason: "stopping" });
    socket.ends(1001);
    expect((await second).url).toEndWith(`?resume=${id}&from_segment=1`);
    const segments = [final(1, "S2"), final(2, "S1"), final(3, "S2")].map(({ segment }) => segment);
    (await second).opens({ ...started, segments });
    (await second).says(ended);
    const events = await read(session);
    const shown = events.map((event) => (event.type === "final" ? `${event.segment.number}` : event.type));
    expect(shown).toEqual(["session", "0", "1", "2", "disconnected", "session", "speakers", "3", "ended"]);
    expect(events.find(({ type }) => type === "speakers")).toEqual({
      type: "speakers",
      speakers: [{ segment: 1, speaker: "S2" }],
    });
    expect(await session.end()).toEqual(ended);
  });

  test("is resumed after it exceeded a limit, again after a minute, but not before", async () => {
    const { session, socket, sockets } = await open();
    let current = socket;
    for (const sleep of [0, 61_000, 1000]) {
      await sockets.clock.sleep(sleep, undefined);
      const next = sockets.next();
      current.ends(1008);
      if (sleep === 1000) break;
      current = await next;
      current.opens();
    }
    await expect(read(session)).rejects.toMatchObject({ name: "LiveClosedError", closeCode: 1008 });
    expect(sockets.count).toBe(3);
  });

  test("keeps only the last partial words of a turn that were not read", async () => {
    const { session, socket } = await open();
    const partial = (turn: string, text: string) => ({ type: "partial", turn, text, words: [] });
    socket.says(partial("a", "1"), partial("a", "2"), partial("b", "3"), ended);
    const events = await read(session);
    expect(events.map((event) => (event.type === "partial" ? event.text : event.type))).toEqual([
      ...["session", "2", "3", "ended"],
    ]);
  });

  test("ends with an error when its events are not read", async () => {
    const { session, socket } = await open();
    for (let number = 0; number < 11_000; number++) socket.says({ type: "cleared" });
    expect(socket.isClosed).toBe(true);
    await expect(read(session)).rejects.toThrow("are not read");
  });

  test("ends with the reason of its signal, before it is open and after", async () => {
    const stop = new AbortController();
    const { session, socket } = await open({}, stop.signal);
    const reading = read(session);
    stop.abort(new Error("enough"));
    await expect(reading).rejects.toThrow("enough");
    expect(socket.isClosed).toBe(true);
    const sockets = new Sockets();
    const other = new AbortController();
    const opening = sockets.client().live({ signal: other.signal });
    other.abort(new Error("enough"));
    await expect(opening).rejects.toThrow("enough");
  });

  test("ends when the server does not answer its end in time, and does not come back", async () => {
    const { session, socket, sockets } = await open({ timeoutSeconds: 0.05 });
    sockets.onSocket = (refused) => queueMicrotask(() => refused.ends(1006));
    await expect(session.end()).rejects.toMatchObject({ name: "NoAnswerError" });
    expect(socket.isClosed).toBe(true);
  });

  test("is refused when the key can't be sent in a WebSocket, without an error that shows it", async () => {
    const refused = new Sockets().client({ key: "trs_(key)" }).live();
    await expect(refused).rejects.toThrow("characters that a WebSocket can't send");
  });
});
