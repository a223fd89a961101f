import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { LiveError } from "../../src/live/index.ts";
import { TestWyoming } from "./test-wyoming.ts";
import type { WyomingClient } from "./wyoming-client.ts";

const format = { rate: 16_000, width: 2, channels: 1 };
/** A tenth of a second of sound. */
const sound = Buffer.alloc(3200, 7);
/** Short enough for a test, and long enough for an answer on a busy machine. */
const times = { event: 400, sound: 400, end: 400 };

/** Returns an event with sound. */
function chunkOf(payload: Uint8Array): Buffer {
  const header = { type: "audio-chunk", data: format, payload_length: payload.length };
  return Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), payload]);
}

describe("bytes that are no events", () => {
  test.each([
    ["a request of HTTP", "malformed", "GET / HTTP/1.1\r\nHost: example.org\r\n\r\n"],
    ["the beginning of TLS", "malformed", Buffer.from("16030100c8010000c40303\n", "hex")],
    ["an endless line", "too_large", Buffer.alloc(200_000, 0x20)],
    ["data of 4 GB", "too_large", '{"type":"transcribe","data_length":4294967296}\n'],
    ["a payload of 4 GB", "too_large", '{"type":"audio-chunk","payload_length":4294967296}\n'],
  ])("are answered with an error, and the connection ends: %s", async (_, code, bytes) => {
    await using wyoming = await TestWyoming.start();
    await using client = await wyoming.connect();
    client.write(bytes);
    client.write('\n{"type":"describe"}\n');
    const events = await client.until("nothing");
    expect(events).toMatchObject([{ type: "error", data: { code } }]);
  });
});

describe("a client that is too slow is disconnected", () => {
  let wyoming: TestWyoming;
  let client: WyomingClient;

  beforeEach(async () => {
    wyoming = await TestWyoming.start(times);
    client = await wyoming.connect();
  });
  afterEach(async () => {
    await client[Symbol.asyncDispose]();
    await wyoming[Symbol.asyncDispose]();
  });

  /** Sends bytes again and again until the connection is closed. */
  async function drip(bytes: Uint8Array | string): Promise<void> {
    const timer = setInterval(() => client.write(bytes), 20);
    await client.ended.finally(() => clearInterval(timer));
  }

  test("when it sends nothing", async () => {
    expect(await client.next()).toMatchObject({ type: "error", data: { code: "timeout" } });
    expect(await client.next()).toBeNull();
    await client.closed;
  });

  test("when it sends a header byte by byte", async () => {
    await drip(" ");
    expect(await client.next()).toMatchObject({ type: "error", data: { code: "timeout" } });
  });

  test("when it sends the data of an event byte by byte", async () => {
    client.write('{"type":"transcribe","data_length":100000}\n{');
    await drip(" ");
    expect(await client.next()).toMatchObject({ type: "error", data: { code: "timeout" } });
  });

  test("when it sends the payload of another event byte by byte", async () => {
    client.write('{"type":"synthesize","payload_length":100000}\n');
    await drip("x");
    expect(await client.next()).toMatchObject({ type: "error", data: { code: "timeout" } });
  });

  test("when the sound of an utterance arrives byte by byte, and the session ends", async () => {
    client.send("audio-start", format);
    client.write('{"type":"audio-chunk","data":{"rate":16000,"width":2,"channels":1},"payload_length":100000}\n');
    await drip("xx");
    expect(await client.next()).toMatchObject({ type: "error", data: { code: "timeout" } });
    const session = await wyoming.live.session();
    await session.called("end");
    expect(session.names).toEqual(["write", "clear", "end"]);
  });

  test("when it sends events without sound in an utterance", async () => {
    client.send("audio-start", format);
    await drip('{"type":"audio-chunk"}\n{"type":"a-new-event"}\n');
    expect(await client.next()).toMatchObject({ type: "error", data: { code: "timeout" } });
    expect(wyoming.live.opened).toEqual([]);
  });

  test("when it goes on sending after an error", async () => {
    await using stubborn = await wyoming.connect("127.0.0.1", true);
    stubborn.write("nonsense\n");
    expect(await stubborn.until("nothing")).toMatchObject([{ type: "error", data: { code: "malformed" } }]);
    const timer = setInterval(() => stubborn.write("x".repeat(1000)), 20);
    await stubborn.closed.finally(() => clearInterval(timer));
  });
});

describe("a client is not disconnected", () => {
  test("while it waits for its transcript, or for a session with enough sound", async () => {
    await using wyoming = await TestWyoming.start(times);
    await using client = await wyoming.connect();
    client.send("audio-chunk", format, sound);
    const session = await wyoming.live.session();
    session.onEnd = () => {};
    client.send("audio-stop");
    await session.called("end");
    await using other = await wyoming.connect();
    // The same limit ends the idle connection, which was opened later.
    await other.closed;
    session.final(" late");
    session.finish();
    expect((await client.until("transcript")).at(-1)?.data).toEqual({ text: "late" });
  });

  test("while its sound arrives in time", async () => {
    await using wyoming = await TestWyoming.start(times);
    await using client = await wyoming.connect();
    client.send("audio-start", format);
    const second = Buffer.concat(Array.from({ length: 10 }, () => sound));
    const timer = setInterval(() => client.send("audio-chunk", format, second), 50);
    await using other = await wyoming.connect();
    await other.closed;
    await using third = await wyoming.connect();
    await third.closed;
    clearInterval(timer);
    client.send("audio-stop");
    expect((await client.until("transcript-stop")).map(({ type }) => type)).toEqual([
      "transcript-start",
      "transcript",
      "transcript-stop",
    ]);
  });
});

describe("connections", () => {
  test("from other networks are closed at once, and logged once a minute", async () => {
    await using wyoming = await TestWyoming.start();
    let now = 5000;
    wyoming.clock = () => now;
    wyoming.networks = ["127.0.0.2", "10.0.0.0/8"];
    for (let connection = 0; connection < 3; connection += 1) {
      await using client = await wyoming.connect();
      expect(await client.next()).toBeNull();
    }
    now += 60_000;
    await using late = await wyoming.connect();
    await late.closed;
    const refused = { event: "wyoming.refused", reason: "foreign", address: "127.0.0.1" };
    expect(wyoming.log).toMatchObject([
      { ...refused, connections: 1 },
      { ...refused, connections: 3 },
    ]);
    await using admitted = await wyoming.connect("127.0.0.2");
    admitted.send("ping");
    expect(await admitted.next()).toEqual({ type: "pong", data: {} });
    expect(await wyoming.metric('transcribe_wyoming_connections_total{outcome="foreign"}')).toBe(4);
    expect(await wyoming.metric('transcribe_wyoming_connections_total{outcome="served"}')).toBe(1);
  });

  test("of one address are limited, and a closed one makes place for another", async () => {
    await using wyoming = await TestWyoming.start();
    const clients = await Promise.all(Array.from({ length: 16 }, () => wyoming.connect()));
    await using excess = await wyoming.connect();
    const text = "The server has as many connections as it can.";
    expect(await excess.next()).toEqual({ type: "error", data: { text, code: "too_many_connections" } });
    expect(await excess.next()).toBeNull();
    await using other = await wyoming.connect("127.0.0.2");
    other.send("ping");
    expect(await other.next()).toEqual({ type: "pong", data: {} });
    expect(await wyoming.metric("transcribe_wyoming_connections")).toBe(17);
    await clients[0]?.[Symbol.asyncDispose]();
    while ((await wyoming.metric("transcribe_wyoming_connections")) > 16) await Bun.sleep(1);
    await using next = await wyoming.connect();
    next.send("ping");
    expect(await next.next()).toEqual({ type: "pong", data: {} });
    for (const client of clients) await client[Symbol.asyncDispose]();
    expect(wyoming.log).toMatchObject([{ event: "wyoming.refused", reason: "too_many_of_address", connections: 1 }]);
  });

  test("in all are limited", async () => {
    await using wyoming = await TestWyoming.start();
    const addresses = Array.from({ length: 64 }, (_, index) => `127.0.1.${1 + (index % 8)}`);
    const clients = await Promise.all(addresses.map((address) => wyoming.connect(address)));
    await using excess = await wyoming.connect("127.0.2.1");
    expect(await excess.next()).toMatchObject({ type: "error", data: { code: "too_many_connections" } });
    for (const client of clients) await client[Symbol.asyncDispose]();
    expect(wyoming.log).toMatchObject([{ event: "wyoming.refused", reason: "too_many", address: "127.0.2.1" }]);
  });
});

describe("a flood", () => {
  test("of sound ends with its session when the client leaves while it waits", async () => {
    await using wyoming = await TestWyoming.start();
    await using client = await wyoming.connect();
    const refused = Promise.withResolvers<void>();
    let refusals = Number.POSITIVE_INFINITY;
    wyoming.live.onOpen = (opened) => {
      opened.onWrite = () => {
        refused.resolve();
        if (refusals-- > 0) throw new LiveError({ kind: "too_fast" });
      };
    };
    client.write(Buffer.concat(Array.from({ length: 20 }, () => chunkOf(sound))));
    await refused.promise;
    client.socket.resetAndDestroy();
    const session = await wyoming.live.session();
    await session.called("end");
    // The sound of another client waits three times, so the first client's rest has been discarded before.
    refusals = 3;
    await using other = await wyoming.connect();
    other.send("audio-chunk", format, sound);
    other.send("audio-stop");
    await other.until("transcript-stop");
    expect(wyoming.live.opened.map(({ soundBytes }) => soundBytes)).toEqual([0, sound.length]);
  });

  test("of questions whose answers nobody reads ends with the connection", async () => {
    await using wyoming = await TestWyoming.start();
    wyoming.model = { ...wyoming.model, title: "x".repeat(200_000) };
    await using client = await wyoming.connect();
    client.socket.pause();
    for (let event = 0; event < 2000; event += 1) client.send("describe");
    const isCounted = async () => (await wyoming.metric('transcribe_wyoming_errors_total{code="slow_reader"}')) === 1;
    while (!(await isCounted())) await Bun.sleep(5);
    while ((await wyoming.metric("transcribe_wyoming_connections")) > 0) await Bun.sleep(5);
  });

  test("of final words that nobody reads ends the session", async () => {
    await using wyoming = await TestWyoming.start();
    await using client = await wyoming.connect();
    client.socket.pause();
    client.send("audio-chunk", format, sound);
    const session = await wyoming.live.session();
    for (let words = 0; words < 1000 && !session.names.includes("end"); words += 1) {
      session.final(` ${"word".repeat(5000)}`);
      await Bun.sleep(0);
    }
    await session.called("end");
    expect(session.names).toEqual(["write", "clear", "end"]);
  });

  test("of sound waits outside the server while its session has enough", async () => {
    await using wyoming = await TestWyoming.start();
    await using client = await wyoming.connect();
    const hasEnough = Promise.withResolvers<void>();
    let takes = false;
    wyoming.live.onOpen = (opened) => {
      opened.onWrite = () => {
        if (takes || opened.soundBytes <= 100_000) return;
        hasEnough.resolve();
        throw new LiveError({ kind: "too_fast" });
      };
    };
    const second = Buffer.alloc(1_000_000, 7);
    for (let event = 0; event < 100; event += 1) client.send("audio-chunk", format, second);
    const session = await wyoming.live.session();
    await hasEnough.promise;
    const unsent = client.socket.writableLength;
    expect(unsent).toBeGreaterThan(50_000_000);
    takes = true;
    client.send("audio-stop");
    await client.until("transcript-stop");
    expect(session.soundBytes).toBe(100_000_000);
  });

  test.each([
    ["sound", '{"type":"audio-chunk","data":{"rate":16000,"width":2,"channels":1}}', 999],
    ["no sound", '{"type":"a-new-event"}', 49],
  ])("of events with %s is slowed down, and all of them are handled", async (_, event, number) => {
    await using wyoming = await TestWyoming.start();
    let now = 10_000;
    wyoming.clock = () => now;
    await using client = await wyoming.connect();
    client.write(`${event}\n`.repeat(number + 1));
    client.write('{"type":"ping","data":{"text":"late"}}\n');
    await using other = await wyoming.connect();
    other.write('{"type":"a-new-event"}\n'.repeat(49));
    other.write('{"type":"ping","data":{"text":"in time"}}\n');
    // The last event of the first client waits for the next second, which begins only now.
    const [first] = await Promise.race([client, other].map(async (each) => [await each.next(), each] as const));
    expect(first).toEqual({ type: "pong", data: { text: "in time" } });
    now += 1000;
    expect(await client.next()).toEqual({ type: "pong", data: { text: "late" } });
  });
});
