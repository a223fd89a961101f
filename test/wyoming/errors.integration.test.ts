import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { changeAccount, createAccount, requireAccount } from "../../src/accounts/index.ts";
import { IntakeError, type IntakeRefusal } from "../../src/intake/index.ts";
import { type LiveEnd, LiveError, type LiveRefusal } from "../../src/live/index.ts";
import { TestWyoming } from "./test-wyoming.ts";
import type { WyomingClient } from "./wyoming-client.ts";

const format = { rate: 16_000, width: 2, channels: 1 };
/** A tenth of a second of sound. */
const sound = Buffer.alloc(3200, 7);
const operator = { actor: "test", now: Date.now() };

let wyoming: TestWyoming;
let client: WyomingClient;

beforeEach(async () => {
  wyoming = await TestWyoming.start();
  client = await wyoming.connect();
});
afterEach(async () => {
  await client[Symbol.asyncDispose]();
  await wyoming[Symbol.asyncDispose]();
});

describe("an utterance is answered with an error, and the connection ends,", () => {
  const sessions: [name: string, refusal: LiveRefusal, code: string, text: string][] = [
    ["it is switched off", { kind: "off" }, "unavailable", "Live transcription is switched off."],
    [
      "the machine is full",
      { kind: "full", sessions: 4 },
      "busy",
      "The server has 4 live sessions, as many as it can.",
    ],
    [
      "the minutes are used up",
      { kind: "audio_used_up" },
      "limit",
      "The account has used up its minutes of audio of this day.",
    ],
    [
      "the model was changed meanwhile",
      { kind: "bad_option", option: "language", reason: "It is not known." },
      "bad_request",
      "language: It is not known.",
    ],
  ];
  test.each(sessions)("if the session is refused: %s", async (_, refusal, code, text) => {
    wyoming.live.onOpen = () => {
      throw new LiveError(refusal);
    };
    client.send("audio-chunk", format, sound);
    expect(await client.next()).toEqual({ type: "error", data: { text, code } });
    expect(await client.next()).toBeNull();
    expect(await wyoming.metric(`transcribe_wyoming_errors_total{code="${code}"}`)).toBe(1);
    expect(await wyoming.metric('transcribe_wyoming_utterances_total{outcome="failed"}')).toBe(1);
  });

  const intake: [refusal: IntakeRefusal, code: string][] = [
    [{ kind: "creates_used_up", window: "hour", limit: 60, retryMilliseconds: 5 }, "limit"],
    [{ kind: "no_place", places: 5 }, "busy"],
    [{ kind: "closed", reason: "The server is stopping." }, "unavailable"],
    [{ kind: "disk_full" }, "unavailable"],
  ];
  for (const [refusal, code] of intake) {
    test(`if no recording may be created: ${refusal.kind}`, async () => {
      wyoming.live.onOpen = () => {
        throw new IntakeError(refusal);
      };
      client.send("audio-chunk", format, sound);
      expect(await client.next()).toMatchObject({ type: "error", data: { code } });
      expect(await client.next()).toBeNull();
    });
  }

  const ends: [reason: Exclude<LiveEnd, "client">, code: string][] = [
    ["idle", "timeout"],
    ["too_long", "limit"],
    ["audio_used_up", "limit"],
    ["access", "account"],
    ["disk_full", "unavailable"],
    ["engine", "internal"],
    ["stopping", "unavailable"],
  ];
  test.each(ends)("if the session ends by itself: %p", async (reason, code) => {
    client.send("audio-chunk", format, sound);
    const session = await wyoming.live.session();
    session.final(" Turn on");
    session.finish(reason);
    expect((await client.until("error")).map(({ type }) => type)).toEqual([
      "transcript-start",
      "transcript-chunk",
      "error",
    ]);
    expect(await client.next()).toBeNull();
    expect(session.names).toEqual(["write"]);
    expect(await wyoming.metric(`transcribe_wyoming_errors_total{code="${code}"}`)).toBe(1);
  });

  test("if the standby is away at its end, and not before", async () => {
    client.send("audio-chunk", format, sound);
    const session = await wyoming.live.session();
    session.emit({ type: "unconfirmed", reason: "The standby is away." });
    session.final(" Turn on");
    session.onEnd = () => session.emit({ type: "unconfirmed", reason: "The standby is away." });
    client.send("audio-stop");
    expect((await client.until("error")).at(-1)).toMatchObject({
      data: { code: "unavailable", text: "The standby is away." },
    });
    expect(await client.next()).toBeNull();
  });

  test("if the session is ending by itself, whose reason follows the sound that it refuses", async () => {
    client.send("audio-chunk", format, sound);
    const session = await wyoming.live.session();
    session.isEnding = true;
    client.send("audio-chunk", format, sound);
    client.send("audio-chunk", format, sound);
    client.send("audio-stop");
    session.onEnd = () => session.finish("too_long");
    expect((await client.until("error")).at(-1)).toMatchObject({ data: { code: "limit" } });
    expect(session.soundBytes).toBe(sound.length);
    expect(wyoming.log).toEqual([]);
  });

  test.each([
    ["while sound arrives", false],
    ["after audio-stop", true],
  ])("if a turn could not be transcribed %s", async (_, stopped) => {
    client.send("audio-chunk", format, sound);
    const session = await wyoming.live.session();
    session.onEnd = () => {};
    if (stopped) {
      client.send("audio-stop");
      await session.called("end");
    }
    session.emit({ type: "turnFailed", turn: "turn" });
    const text = "The sound could not be transcribed.";
    expect(await client.next()).toEqual({ type: "error", data: { text, code: "internal" } });
    expect(await client.next()).toBeNull();
    expect(session.names.slice(-2)).toEqual(["clear", "end"]);
    expect(await wyoming.metric('transcribe_wyoming_utterances_total{outcome="failed"}')).toBe(1);
  });

  test("if the account does not exist", async () => {
    wyoming.account = "nobody";
    client.send("audio-chunk", format, sound);
    const text = "The account of live.wyoming_account does not exist.";
    expect(await client.next()).toEqual({ type: "error", data: { text, code: "unavailable" } });
  });

  test("if the account is restricted", async () => {
    changeAccount(wyoming.store, requireAccount(wyoming.store, "home"), operator, { standing: "restricted" });
    client.send("audio-chunk", format, sound);
    expect(await client.next()).toEqual({
      type: "error",
      data: { text: "The account is restricted.", code: "account" },
    });
  });

  test("if the format changes within it", async () => {
    client.send("audio-start", format);
    client.send("audio-chunk", { ...format, rate: 48_000 }, sound);
    expect(await client.next()).toMatchObject({ type: "error", data: { code: "bad_request" } });
    expect(wyoming.live.opened).toEqual([]);
  });

  test("if the session fails unexpectedly, whose message is logged and not sent", async () => {
    wyoming.live.onOpen = () => {
      throw new Error("disk I/O error");
    };
    client.send("audio-chunk", format, sound);
    const text = "The sound could not be transcribed.";
    expect(await client.next()).toEqual({ type: "error", data: { text, code: "internal" } });
    expect(wyoming.log).toMatchObject([{ event: "wyoming.unexpected_error", err: { message: "disk I/O error" } }]);
  });
});

describe("access of a session", () => {
  test("ends when the account is restricted, or when the settings name another account", async () => {
    createAccount(wyoming.store, "other", operator);
    client.send("audio-chunk", format, sound);
    const { sender } = await wyoming.live.session();
    sender.requireAccess();
    wyoming.account = "other";
    expect(() => sender.requireAccess()).toThrow(IntakeError);
    wyoming.account = "home";
    sender.requireAccess();
    changeAccount(wyoming.store, sender.account, operator, { standing: "guest" });
    expect(() => sender.requireAccess()).toThrow(IntakeError);
  });
});

test("nothing that was spoken reaches the log", async () => {
  client.send("audio-chunk", format, sound);
  const session = await wyoming.live.session();
  session.final(" secret words");
  session.finish("engine");
  await client.until("error");
  expect(JSON.stringify(wyoming.log)).not.toContain("secret");
});
