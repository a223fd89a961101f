import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import { ApiServer } from "../../support/http.ts";
import { liveSegment } from "../../support/live.ts";
import { TestSocket } from "../../support/test-socket.ts";
import { frame, opcodes, RawSocket } from "./raw-socket.ts";

const MIB = 1024 * 1024;
const { text, binary, continuation, ping, pong } = opcodes;

const server = new ApiServer();
afterAll(() => server[Symbol.dispose]());
const client = server.client("first");
const headers = { Authorization: `Bearer ${client.key}` };
const paths = ["/api/public/v1/live", "/v1/realtime"] as const;
const open = (path: string = paths[0]) => RawSocket.open(server.port, path, headers);

/** Returns the memory of this process without garbage. */
function memoryInUse(): number {
  Bun.gc(true);
  return process.memoryUsage.rss();
}

/** Another client, which must notice nothing of the hostile ones. */
let neighbour: TestSocket;
let neighbourSession = server.live.opened[0];
beforeEach(async () => {
  neighbour = await TestSocket.open(`ws://127.0.0.1:${server.port}${paths[0]}`, { headers });
  neighbourSession = server.live.last;
});
afterEach(async () => {
  neighbour.send({ type: "commit" });
  await neighbourSession?.called("commit");
  neighbourSession?.emit({ type: "cleared" });
  await neighbour.next("cleared");
  await neighbour.close();
});

describe.each(paths)("at %s, a client that sends", (path) => {
  const isOwn = path === paths[0];
  const repeated = (each: Buffer, count: number) => Buffer.concat(Array.from({ length: count }, () => each));

  test("a million empty frames is disconnected with 1008", async () => {
    using socket = await open(path);
    const session = server.live.last;
    socket.send(...Array.from({ length: 20 }, () => repeated(frame(isOwn ? binary : text), 50_000)));
    expect(await socket.closed).toBe(1008);
    expect(session.calls.map(({ call }) => call)).toEqual([isOwn ? "detach" : "leave"]);
  });

  test("a frame of sound after frame, without a pause, is disconnected with 1008 after ten minutes of it", async () => {
    using socket = await open(path);
    const session = server.live.last;
    const append = JSON.stringify({ type: "input_audio_buffer.append", audio: "AAA=" });
    const sound = isOwn ? frame(binary, Buffer.alloc(2)) : frame(text, append);
    socket.send(repeated(sound, 50_000));
    expect(await socket.closed).toBe(1008);
    const writes = session.calls.filter(({ call }) => call === "write").length;
    expect([writes >= 30_000, writes < 40_000]).toEqual([true, true]);
  });

  test.each([
    ["pings", ping],
    ["pongs", pong],
  ] as const)("a hundred thousand %s is disconnected with 1008", async (_, opcode) => {
    using socket = await open(path);
    socket.send(repeated(frame(opcode, "x"), 100_000));
    expect(await socket.closed).toBe(1008);
  });

  test("commands without a pause is disconnected with 1008 after some hundred", async () => {
    using socket = await open(path);
    const session = server.live.last;
    const command = isOwn ? { type: "clear" } : { type: "input_audio_buffer.clear" };
    socket.send(repeated(frame(text, JSON.stringify(command)), 1000));
    expect(await socket.closed).toBe(1008);
    const clears = session.calls.filter(({ call }) => call === "clear").length;
    expect([clears >= 300, clears < 600]).toEqual([true, true]);
  });

  test("ten minutes of sound in frames of 20 ms at once is served", async () => {
    using socket = await open(path);
    const session = server.live.last;
    const append = JSON.stringify({ type: "input_audio_buffer.append", audio: Buffer.alloc(960).toString("base64") });
    socket.send(repeated(isOwn ? frame(binary, Buffer.alloc(640)) : frame(text, append), 29_999));
    await session.called("write", 29_999);
  });

  /** What the protocol of WebSockets forbids. */
  const broken: [string, Buffer, number][] = [
    ["text that is not UTF-8", frame(text, Buffer.from([0x7b, 0xff, 0xfe, 0x7d])), 1007],
    ["half a character of UTF-8", frame(text, Buffer.from([0xe2, 0x82])), 1007],
    ["a frame without a mask", frame(text, "{}", { masked: false }), 1002],
    ["a reserved opcode", frame(3, "x"), 1002],
    ["a reserved bit", frame(text, "x", { reserved: 4 }), 1002],
    ["a fragmented ping", frame(ping, "x", { fin: false }), 1002],
    ["a long ping", frame(ping, Buffer.alloc(126)), 1002],
    ["a continuation of nothing", frame(continuation, "x"), 1002],
    ["a text inside another", Buffer.concat([frame(text, "{", { fin: false }), frame(text, "}")]), 1002],
    ["the head of a frame of a terabyte", frame(binary, "x", { claimed: 1n << 40n }), 1009],
    ["the head of a frame of more bytes than there are", frame(binary, "x", { claimed: (1n << 64n) - 1n }), 1009],
  ];
  test.each(broken)("%s is disconnected", async (_, bytes, code) => {
    using socket = await open(path);
    const session = server.live.last;
    socket.send(bytes);
    expect(await socket.closed).toBe(code);
    await session.called(isOwn ? "detach" : "leave");
  });

  test("a message in fragments without end is disconnected before it takes much memory", async () => {
    using socket = await open(path);
    const before = memoryInUse();
    socket.send(frame(text, " ".repeat(MIB), { fin: false }));
    for (let count = 0; count < 64; count++) socket.send(frame(continuation, " ".repeat(MIB), { fin: false }));
    expect([1009, null]).toContain(await socket.closed);
    expect(memoryInUse() - before).toBeLessThan(256 * MIB);
  });

  test("a close frame of one byte, or with a code that nobody may send, is disconnected", async () => {
    for (const payload of [Buffer.from([3]), Buffer.from([0, 1]), Buffer.from([3, 238])]) {
      using socket = await open(path);
      const session = server.live.last;
      socket.send(frame(opcodes.close, payload));
      await socket.closed;
      await session.called(isOwn ? "detach" : "leave");
    }
  });

  test("nothing more, and is gone without a close frame, leaves its session", async () => {
    const socket = await open(path);
    const session = server.live.last;
    socket.reset();
    await session.called(isOwn ? "detach" : "leave");
  });

  test("on after its session has ended is not answered", async () => {
    using socket = await open(path);
    const session = server.live.last;
    session.finish();
    socket.send(repeated(frame(text, '{"type":"commit"}'), 100));
    expect(await socket.closed).toBe(1000);
    expect(session.calls).toEqual([]);
  });

  test("and does not read is disconnected with 1008 before its messages take much memory", async () => {
    using socket = await open(path);
    socket.pause();
    const session = server.live.last;
    const segment = liveSegment(0, "word ".repeat(2000).trim());
    const bytes = (isOwn ? JSON.stringify(segment) : segment.text).length;
    let sent = 0;
    // The kernel's buffers hold some megabytes.
    while (session.calls.length === 0 && sent * bytes < 64 * MIB) {
      session.emit({ type: "final", turn: `t${sent++}`, segment });
      await new Promise(setImmediate);
    }
    expect(session.calls.map(({ call }) => call)).toEqual([isOwn ? "detach" : "leave"]);
  });
});

describe("our own protocol", () => {
  test.each([
    ["a frame of sound of more than 3 MiB", frame(binary, Buffer.alloc(3 * MIB + 1))],
    ["a message of more than 32 KiB", frame(text, `{"type":"commit","more":"${"a".repeat(32 * 1024)}"}`)],
  ])("ends a client that sends %s with 1009", async (_, bytes) => {
    using socket = await open();
    const session = server.live.last;
    socket.send(bytes);
    expect(await socket.closed).toBe(1009);
    expect(session.calls).toEqual([{ call: "detach" }]);
  });

  test("takes 3 MiB of sound in one frame", async () => {
    using socket = await open();
    const session = server.live.last;
    socket.send(frame(binary, Buffer.alloc(3 * MIB)));
    await session.called("write");
    expect(session.sound.length).toBe(3 * MIB);
  });
});

test("a thousand clients at once get their sessions and their words, in bounded memory", async () => {
  const before = memoryInUse();
  const first = server.live.opened.length;
  const opening = Array.from({ length: 1000 }, () =>
    TestSocket.open(`ws://127.0.0.1:${server.port}${paths[0]}`, { headers }),
  );
  const sockets = await Promise.all(opening);
  const sessions = server.live.opened.slice(first);
  expect(sessions.length).toBe(1000);
  for (const session of sessions) session.emit({ type: "final", turn: "t1", segment: liveSegment(0, "Hello!") });
  await Promise.all(sockets.map((socket) => socket.next("final")));
  // Both sides are in this process.
  expect(memoryInUse() - before).toBeLessThan(256 * MIB);
  await Promise.all(sockets.map((socket) => socket.close()));
  await Promise.all(sessions.map((session) => session.called("detach")));
});

test("requests that do not complete the handshake open no session", async () => {
  const first = server.live.opened.length;
  const request = `GET ${paths[0]} HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${headers.Authorization}\r\n`;
  for (const more of [
    "Upgrade: websocket\r\nConnection: Upgrade\r\n",
    "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n",
    "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n",
  ]) {
    expect(await server.raw(`${request}${more}\r\n`)).toStartWith("HTTP/1.1 426 ");
  }
  expect(server.live.opened.length).toBe(first);
});
