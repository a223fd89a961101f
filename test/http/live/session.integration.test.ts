import { afterAll, describe, expect, test } from "bun:test";
import { Value } from "@sinclair/typebox/value";
import { liveMessages } from "../../../src/api-contract/index.ts";
import { LiveError, type LiveEvent } from "../../../src/live/index.ts";
import { ApiServer } from "../../support/http.ts";
import { liveSegment } from "../../support/live.ts";
import { TestSocket } from "../../support/test-socket.ts";

const server = new ApiServer();
afterAll(() => server[Symbol.dispose]());
const client = server.client("first");
const address = `ws://127.0.0.1:${server.port}/api/public/v1/live`;

const open = (query = "", { key } = client) =>
  TestSocket.open(address + query, { headers: { authorization: `Bearer ${key}` } });

describe("a live session", () => {
  test("begins with its id and its options, which are those of the query", async () => {
    using socket = await open();
    const first = await socket.next("session");
    expect(first).toEqual({
      ...{ type: "session", id: server.live.last.id, sample_rate: 16_000, encoding: "pcm16", language: null },
      ...{ keep: true, received_seconds: 0, segments: [] },
    });
    expect(server.live.last.options).toEqual({
      ...{ format: { encoding: "pcm16", sampleRate: 16_000 }, language: null, prompt: null, keep: true, name: null },
      turns: { threshold: 0.5, paddingSeconds: 0.3, silenceSeconds: 0.5 },
    });
    using _ = await open(
      "?sample_rate=44100&encoding=float32&language=DE&prompt=Zau%2C%20Leverrier&keep=false&name=Stand-up&threshold=0.25&padding_ms=100&silence_ms=900",
    );
    expect(server.live.last.options).toEqual({
      format: { encoding: "float32", sampleRate: 44_100 },
      ...{ language: "de", prompt: "Zau, Leverrier", keep: false, name: "Stand-up" },
      turns: { threshold: 0.25, paddingSeconds: 0.1, silenceSeconds: 0.9 },
    });
    using _telephone = await open("?encoding=mulaw&turns=manual");
    expect(server.live.last.options).toMatchObject({ format: { encoding: "mulaw", sampleRate: 8000 }, turns: null });
  });

  test("belongs to the account, the workspace and the key of its client", async () => {
    const workspace = server.workspace("second", "inside");
    const pinned = server.client("second", { workspace });
    using _ = await open("", pinned);
    const { sender } = server.live.last;
    expect([sender.account.id, sender.workspaceId, sender.holder]).toEqual([
      pinned.accountId,
      workspace.id,
      pinned.keyId,
    ]);
  });

  test("opens when the standby has it, and resumes also without a standby", async () => {
    let asked = 0;
    server.standby.onConfirm = () => {
      asked += 1;
    };
    const first = await open();
    expect(asked).toBe(1);
    const session = server.live.last;
    await first.close();
    await session.called("detach");
    server.standby.isThere = false;
    using second = await open(`?resume=${session.id}`);
    expect((await second.next("session")).id).toBe(session.id);
    server.standby.isThere = true;
    server.standby.onConfirm = () => {};
  });

  test("takes sound in frames of any size, in whole samples", async () => {
    using socket = await open("?encoding=float32");
    const session = server.live.last;
    for (const bytes of [[1, 2, 3], [4, 5], [6, 7, 8, 9], [], [10, 11, 12]]) socket.send(Uint8Array.from(bytes));
    await session.called("write", 3);
    expect(session.calls.map((each) => (each.call === "write" ? [...each.sound] : each.call))).toEqual([
      [1, 2, 3, 4],
      [5, 6, 7, 8],
      [9, 10, 11, 12],
    ]);
  });

  test("obeys each message", async () => {
    using socket = await open();
    const session = server.live.last;
    const messages: [object, object][] = [
      [{ type: "commit" }, { call: "commit" }],
      [{ type: "clear" }, { call: "clear" }],
      [
        { type: "update", language: "De", prompt: "Helstone" },
        { call: "update", options: { language: "de", prompt: "Helstone" } },
      ],
      [
        { type: "update", language: null, prompt: "" },
        { call: "update", options: { language: null, prompt: null } },
      ],
      [
        { type: "update", silence_ms: 1500 },
        { call: "update", options: { turns: { threshold: 0.5, paddingSeconds: 0.3, silenceSeconds: 1.5 } } },
      ],
      [
        { type: "update", turns: "manual" },
        { call: "update", options: { turns: null } },
      ],
      [{ type: "update" }, { call: "update", options: {} }],
      [
        { type: "update", turns: "auto", threshold: 0.9 },
        { call: "update", options: { turns: { threshold: 0.9, paddingSeconds: 0.3, silenceSeconds: 0.5 } } },
      ],
      [
        { type: "speaker", speaker: "S2", name: " Anna\u0000 Müller " },
        { call: "nameSpeaker", speaker: "S2", name: "Anna Müller" },
      ],
      [{ type: "end", later: "fields are ignored" }, { call: "end" }],
    ];
    for (const [message] of messages) socket.send(message);
    await session.called("end");
    expect(session.calls).toEqual(messages.map(([, call]) => Object(call)));
  });

  test("reports each event in the documented form", async () => {
    using socket = await open();
    const session = server.live.last;
    const segment = liveSegment(3, "Good day.", "S1");
    const words = [
      { text: "Good", start: 3, end: 3.4, probability: 0.5 },
      { text: "day.", start: 3.5, end: 3.9, probability: 0.5 },
    ];
    const events: [LiveEvent, object][] = [
      [
        { type: "speechStarted", turn: "t1", seconds: 1.23456 },
        { type: "speech_started", turn: "t1", seconds: 1.235 },
      ],
      [
        { type: "partial", turn: "t1", text: " Good day.", words: segment.words },
        { type: "partial", turn: "t1", text: "Good day.", words },
      ],
      [
        { type: "final", turn: "t1", segment },
        {
          ...{ type: "final", turn: "t1" },
          segment: { number: 3, start: 3, end: 3.9, text: "Good day.", speaker: "S1", words },
        },
      ],
      [
        { type: "speechStopped", turn: "t1", seconds: 4 },
        { type: "speech_stopped", turn: "t1", seconds: 4 },
      ],
      [
        { type: "committed", turn: "t1", previous: null },
        { type: "committed", turn: "t1", previous_turn: null },
      ],
      [
        { type: "turnCompleted", turn: "t1", text: "Good day.", seconds: 3, language: "en" },
        { type: "turn_completed", turn: "t1", text: "Good day.", seconds: 3, language: "en" },
      ],
      [
        { type: "speakers", speakers: [{ segment: 2, speaker: "S1" }] },
        { type: "speakers", speakers: [{ segment: 2, speaker: "S1" }] },
      ],
      [{ type: "cleared" }, { type: "cleared" }],
      [
        { type: "turnFailed", turn: "t2" },
        { type: "turn_failed", turn: "t2" },
      ],
      [
        { type: "unconfirmed", reason: "The standby is away." },
        { type: "error", error: "unconfirmed", message: "The standby is away." },
      ],
      [
        { type: "ended", reason: "client", recordingId: "0192" },
        { type: "ended", reason: "client", recording_id: "0192" },
      ],
    ];
    for (const [event] of events) session.emit(event);
    expect(await socket.closed).toEqual([1000, "The session has ended."]);
    expect(socket.messages.slice(1)).toEqual(events.map(([, message]) => Object(message)));
    for (const message of socket.messages) expect(Value.Check(liveMessages.serverMessageSchema, message)).toBe(true);
    expect(session.calls).toEqual([]);
  });

  test.each([
    ["idle", 1000],
    ["too_long", 1000],
    ["audio_used_up", 1000],
    ["disk_full", 1000],
    ["stopping", 1001],
    ["access", 1008],
    ["engine", 1011],
  ] as const)("that ends as %s is closed with %d", async (reason, code) => {
    using socket = await open();
    server.live.last.finish(reason);
    expect((await socket.closed)[0]).toBe(code);
    expect(socket.messages.at(-1)).toEqual({ type: "ended", reason, recording_id: null });
  });

  test("waits for its client when the connection is lost, and resumes where its sound ended", async () => {
    const first = await open("?encoding=mulaw&sample_rate=11025");
    const session = server.live.last;
    await first.close();
    await session.called("detach");
    server.live.resumed = { receivedSeconds: 12.3456, segments: [liveSegment(7, "Hello!")] };
    using second = await open(`?resume=${session.id}&from_segment=7`);
    expect(await second.next("session")).toEqual({
      ...{ type: "session", id: session.id, sample_rate: 11_025, encoding: "mulaw", language: null, keep: true },
      received_seconds: 12.3456,
      segments: [
        {
          ...{ number: 7, start: 7, end: 7.4, text: "Hello!", speaker: null },
          words: [{ text: "Hello!", start: 7, end: 7.4, probability: 0.5 }],
        },
      ],
    });
    expect(server.live.resumedFrom.at(-1)).toBe(7);
    session.emit({ type: "cleared" });
    expect(await second.next("cleared")).toEqual({ type: "cleared" });
  });

  test("that resumes with a long transcript sends it, and does not take its client for a slow one", async () => {
    const first = await open();
    const session = server.live.last;
    await first.close();
    const segments = Array.from({ length: 5000 }, (_, number) => liveSegment(number, "word ".repeat(10).trim()));
    server.live.resumed = { receivedSeconds: 3600, segments };
    using second = await open(`?resume=${session.id}`);
    session.emit({ type: "cleared" });
    expect((await second.next("session")).segments).toBeArrayOfSize(5000);
    expect(await second.next("cleared")).toEqual({ type: "cleared" });
  });

  test("that was ended by its client ignores the sound and refuses the messages that follow", async () => {
    using socket = await open();
    const session = server.live.last;
    for (const data of [{ type: "end" }, new Uint8Array(640), { type: "commit" }]) socket.send(data);
    expect(await socket.next("error")).toMatchObject({ error: "ending" });
    session.emit({ type: "final", turn: "t1", segment: liveSegment(0, "Bye.") });
    session.finish("client", "0192");
    expect((await socket.closed)[0]).toBe(1000);
    expect(session.calls).toEqual([{ call: "end" }]);
  });

  test("takes no harm from what arrives while it ends by itself", async () => {
    using socket = await open();
    const session = server.live.last;
    session.onCall = () => {
      throw new LiveError({ kind: "unknown_session" });
    };
    socket.send(new Uint8Array(2));
    socket.send({ type: "commit" });
    expect(await socket.next("error")).toMatchObject({ error: "ending" });
    session.finish("idle");
    expect(await socket.closed).toEqual([1000, "The session has ended."]);
    expect(socket.messages.map(({ type }) => type)).toEqual(["session", "error", "ended"]);
  });

  test("that has ended before its connection is made tells its client why", async () => {
    server.live.onOpen = (session) => queueMicrotask(() => session.finish("stopping"));
    using socket = await open();
    server.live.onOpen = () => {};
    expect((await socket.closed)[0]).toBe(1001);
    expect(socket.messages.at(-1)).toMatchObject({ type: "ended", reason: "stopping" });
  });

  test("that a client leaves after its end is not detached", async () => {
    using socket = await open();
    const session = server.live.last;
    socket.send({ type: "end" });
    await session.called("end");
    session.finish();
    await socket.closed;
    expect(session.calls).toEqual([{ call: "end" }]);
  });

  const refusals: [object, LiveError, object][] = [
    [{ type: "commit" }, new LiveError({ kind: "empty_turn" }), { error: "empty_turn" }],
    [
      { type: "update", language: "xx" },
      new LiveError({ kind: "bad_option", option: "language", reason: "The model does not know this language." }),
      { error: "invalid_option", message: "language: The model does not know this language." },
    ],
  ];
  test.each(refusals)("that refuses %j goes on", async (message, error, expected) => {
    using socket = await open();
    const session = server.live.last;
    session.onCall = () => {
      throw error;
    };
    socket.send(message);
    expect(await socket.next("error")).toMatchObject(expected);
    session.onCall = () => {};
    socket.send(new Uint8Array(2));
    await session.called("write");
  });

  test("closes with 1008 when its sound comes too fast, and can be resumed", async () => {
    using socket = await open();
    const session = server.live.last;
    session.onCall = ({ call }) => {
      if (call === "write") throw new LiveError({ kind: "too_fast" });
    };
    socket.send(new Uint8Array(2));
    expect(await socket.closed).toEqual([1008, "The sound comes too fast."]);
    expect(session.calls).toEqual([{ call: "detach" }]);
  });

  test("closes with 1011 after a fault, whose cause the log has and the client does not", async () => {
    using socket = await open();
    const session = server.live.last;
    session.onCall = ({ call }) => {
      if (call === "write") throw new Error("the disk is on fire");
    };
    server.log.length = 0;
    socket.send(new Uint8Array(2));
    expect(await socket.closed).toEqual([1011, "Something went wrong on our side."]);
    expect(session.calls).toEqual([{ call: "detach" }]);
    expect(JSON.stringify(server.log)).toContain("the disk is on fire");
    expect(server.log.find(({ event }) => event === "live.fault")).toMatchObject({ requestId: expect.any(String) });
  });

  test("reports what happens while its connection is made after its first message", async () => {
    server.live.onOpen = (session) => session.emit({ type: "cleared" });
    using socket = await open();
    server.live.onOpen = () => {};
    await socket.next("cleared");
    expect(socket.messages.map(({ type }) => type)).toEqual(["session", "cleared"]);
  });
});

describe("a message that is not valid", () => {
  test.each([
    ["no JSON", "commit"],
    ["another type", { type: "unknown" }],
    ["no type", {}],
    ["no object", "[]"],
    ["null", "null"],
    ["a language that is no text", { type: "update", language: 5 }],
    ["a threshold above 1", { type: "update", threshold: 1.1 }],
    ["a prompt that is too long", { type: "update", prompt: "a".repeat(2001) }],
    ["a prompt without words", { type: "update", prompt: "…" }],
    ["a speaker with another label", { type: "speaker", speaker: "Anna", name: "Anna" }],
    ["a name without visible characters", { type: "speaker", speaker: "S1", name: "\u200b\u0000" }],
    ["deep JSON", `${"[".repeat(15_000)}${"]".repeat(15_000)}`],
  ])("%s is refused, and the session goes on", async (_, message) => {
    using socket = await open();
    const session = server.live.last;
    socket.send(message);
    expect(await socket.next("error")).toMatchObject({ error: "invalid_message" });
    socket.send({ type: "commit" });
    await session.called("commit");
    expect(session.calls).toEqual([{ call: "commit" }]);
  });

  test("closes the connection with 1008 when it is repeated", async () => {
    using socket = await open();
    for (let count = 0; count < 25; count++) socket.send({ type: "unknown" });
    expect(await socket.closed).toEqual([1008, "Too many messages are not valid."]);
    expect(socket.messages.filter(({ type }) => type === "error")).toBeArrayOfSize(20);
  });
});
