import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { changeAccount, createWorkspace, deleteWorkspace } from "../../src/accounts/index.ts";
import { IntakeError } from "../../src/intake/index.ts";
import { finishRemovals, removeAccount } from "../../src/library/index.ts";
import { LiveError, liveTextOf } from "../../src/live/index.ts";
import { automatic, Events, LiveServer } from "./live-server.ts";
import { sound, words } from "./scripted-engine.ts";

let server: LiveServer;
beforeEach(() => {
  server = new LiveServer();
});
afterEach(async () => await server[Symbol.asyncDispose]());

const refusal = (call: () => unknown) => {
  try {
    call();
  } catch (error) {
    if (error instanceof LiveError || error instanceof IntakeError) return error.refusal;
    throw error;
  }
  return null;
};
const by = () => ({ actor: "operator", now: server.time });
/** Resumes a session. */
const resume = (id: string, fromSegment = 0, sender = server.sender()) => {
  const events = new Events();
  return { ...server.live.resume(sender, id, fromSegment, events.listen), events };
};
/** Returns the sound of the only recording, without the header of its file. */
const recordedSound = () => {
  const [name = ""] = server.filesIn("uploads");
  return readFileSync(join(server.dataDirectory.uploads, name)).subarray(44);
};

describe("a session that is kept", () => {
  test("becomes a recording with its sound, options and words", async () => {
    const workspace = createWorkspace(server.store, server.account(), "sales", by());
    const sender = server.sender({ workspace });
    const { session, events } = server.open({ name: "Meeting 12.30/a", prompt: "Aachen" }, sender);
    const bytes = sound([0, 1], [2000, 2], [0, 1]);
    session.write(bytes);
    await session.end();
    expect(recordedSound().equals(bytes)).toBe(true);
    const [id = ""] = server.queued;
    expect(server.recordings.get(id)).toMatchObject({
      ...{ sourceName: "Meeting 12.30-a", pinnedLanguage: "en", prompt: "Aachen", status: "queued" },
      ...{ workspaceId: workspace.id, speechModel: "whisper-base", sizeBytes: 44 + bytes.length },
    });
    const text = liveTextOf(server.store, id);
    expect(text?.segments.map((segment) => segment.text).join(" ")).toBe(words(1, 3));
    expect(text?.segments.flatMap((segment) => segment.words)[0]).toEqual({
      ...{ text: " w2", startSeconds: 1.05, endSeconds: 1.45, probability: 0.9 },
    });
    expect(text?.segments[0]?.speaker).toBe("S1");
    expect(text?.segments[0]?.turn).toBe(events.of("committed")[0]?.turn ?? "");
    expect(server.filesIn("live")).toEqual([]);
    expect(server.filesIn("incoming")).toEqual([]);
    expect(liveTextOf(server.store, session.id)).toBeNull();
  });

  test("is named by its time if it has no name", async () => {
    const { session } = server.open();
    session.write(sound([2000, 1]));
    await session.end();
    expect(server.recordings.get(server.queued[0] ?? "")?.sourceName).toBe("Live 2026-11-29 10:20 UTC");
  });

  test("is charged once, as a session and then as its recording, and counts as one create", async () => {
    const { session } = server.open();
    session.write(sound([0, 60]));
    server.advance(10);
    const { id: accountId } = server.account();
    expect(server.usage.audioSeconds(accountId, server.time)).toBe(60);
    await session.end();
    expect(server.usage.audioSeconds(accountId, server.time)).toBe(60);
    const [id = ""] = server.queued;
    server.usage.admit(accountId, id, 1e6, server.time);
    server.usage.chargeAudio(id, 61, 1e6);
    expect(server.usage.audioSeconds(accountId, server.time)).toBe(61);
    expect(server.rows("creates")).toBe(1);
  });

  test("takes the place of an open recording, also while its recording is queued", async () => {
    server.limits = { ...server.limits, recordings_per_account: 1 };
    const { session } = server.open();
    expect(refusal(() => server.open())).toMatchObject({ kind: "no_place" });
    session.write(sound([2000, 1]));
    await session.end();
    expect(refusal(() => server.open())).toMatchObject({ kind: "no_place" });
    const [id = ""] = server.queued;
    server.recordings.fail(id, { reason: "no_speech" });
    expect(refusal(() => server.open())).toBeNull();
  });

  test("is deleted with its recording", async () => {
    const { session } = server.open();
    session.write(sound([2000, 3], [0, 1]));
    await session.end();
    const [id = ""] = server.queued;
    server.recordings.fail(id, { reason: "no_speech" });
    expect(server.rows("live_segments")).toBeGreaterThan(0);
    server.recordings.delete(id);
    await finishRemovals(server);
    expect([server.rows("live_sessions"), server.rows("live_segments")]).toEqual([0, 0]);
  });

  test("leaves nothing if there was hardly any sound", async () => {
    const { session, events } = server.open();
    session.write(sound([2000, 0.3]));
    await session.end();
    expect(events.of("ended")).toEqual([{ type: "ended", reason: "client", recordingId: null }]);
    expect([server.filesIn("live"), server.queued, server.rows("live_sessions")]).toEqual([[], [], 0]);
    expect(server.usage.audioSeconds(server.account().id, server.time)).toBe(0);
  });

  test("keeps its workspace from being deleted while it is open", () => {
    const workspace = createWorkspace(server.store, server.account(), "sales", by());
    server.open({}, server.sender({ workspace }));
    expect(() => deleteWorkspace(server.store, workspace, by())).toThrow("live sessions");
  });
});

describe("a session that is not kept", () => {
  test("leaves no row and no file, only its charge and the lines of the audit log", async () => {
    const { session, events } = server.open({ keep: false });
    session.write(sound([2000, 30], [0, 1]));
    await events.received("final");
    expect([server.rows("live_sessions"), server.rows("live_segments")]).toEqual([0, 0]);
    await session.end();
    expect(events.of("ended")).toEqual([{ type: "ended", reason: "client", recordingId: null }]);
    expect([server.filesIn("live"), server.filesIn("uploads"), server.queued]).toEqual([[], [], []]);
    expect(server.usage.audioSeconds(server.account().id, server.time)).toBe(31);
    const subject = session.id;
    expect(server.audit()).toEqual([
      {
        ...{ actor: "key-1", action: "live.open", subject },
        details: { account: "acme", workspaceId: null, keep: false },
      },
      {
        ...{ actor: "key-1", action: "live.end", subject },
        details: { account: "acme", reason: "client", seconds: 31 },
      },
    ]);
    expect(JSON.stringify(server.log)).not.toContain("w1");
  });

  test.each([
    ["while it runs", false],
    ["while its last words are recognized", true],
  ])("recognizes no more words when its client leaves %s", async (_, isEnding) => {
    const { session } = server.open({ keep: false });
    const started = Promise.withResolvers<void>();
    // The recognition does not end by itself.
    server.engine.onCall = ({ operation }) => {
      if (operation !== "transcribeLive") return;
      started.resolve();
      return new Promise<void>(() => {});
    };
    session.write(sound([2000, 20]));
    const ended = isEnding ? session.end() : null;
    await started.promise;
    session.leave();
    await (ended ?? session.end());
    expect(server.engine.of("transcribeLive").length).toBe(1);
    expect([server.live.status().open, server.filesIn("live"), server.queued]).toEqual([0, [], []]);
    expect(server.audit().at(-1)?.details).toMatchObject({ reason: isEnding ? "client" : "disconnected", seconds: 20 });
  });

  test("is continued after its connection was lost, but not by another server", async () => {
    const { session } = server.open({ keep: false });
    session.write(sound([2000, 3], [0, 1]));
    session.detach();
    const resumed = resume(session.id);
    expect(resumed.receivedSeconds).toBe(4);
    resumed.session.write(sound([2000, 1], [0, 1]));
    await resumed.events.until(() => resumed.events.text.endsWith(words(4, 5)));
    expect(server.live.resume).toBeFunction();
    resumed.session.detach();
    const again = resume(session.id, 0);
    expect(again.segments.map(({ text }) => text).join(" ")).toBe(`${words(0, 3)} ${words(4, 5)}`);
    await server.restart();
    expect(refusal(() => resume(session.id))).toEqual({ kind: "unknown_session" });
    expect(server.filesIn("live")).toEqual([]);
    expect(server.audit().at(-1)?.details.reason).toBe("stopping");
  });
});

describe("a session whose connection was lost", () => {
  test("is resumed by the same holder alone, with the segments that the client lacks", async () => {
    const { session, events } = server.open();
    session.write(sound([2000, 2], [0, 1]));
    await events.received("turnCompleted");
    expect(refusal(() => resume(session.id))).toEqual({ kind: "in_use" });
    session.detach();
    for (const sender of [server.sender({ holder: "key-2" }), server.sender({ account: server.account("other") })]) {
      expect(refusal(() => resume(session.id, 0, sender))).toEqual({ kind: "unknown_session" });
    }
    const known = events.of("final").length;
    const resumed = resume(session.id, known);
    expect(resumed.segments).toEqual([]);
    resumed.session.write(sound([2000, 1], [0, 1]));
    await resumed.events.received("turnCompleted");
    expect(resumed.events.of("final")[0]?.segment.number).toBe(known);
    await resumed.session.end();
    expect(recordedSound().length).toBe(5 * 32_000);
    expect(refusal(() => resume(session.id))).toEqual({ kind: "unknown_session" });
  });

  test("ends after two minutes, and becomes a recording", async () => {
    const { session } = server.open();
    session.write(sound([2000, 2]));
    session.detach();
    server.advance(119);
    expect(server.live.status().open).toBe(1);
    const resumed = resume(session.id);
    resumed.session.detach();
    server.advance(121);
    expect(refusal(() => resume(session.id))).toEqual({ kind: "unknown_session" });
    while (server.queued.length === 0) await Bun.sleep(0);
    expect(server.audit().at(-1)?.details).toMatchObject({ reason: "disconnected", seconds: 2 });
  });

  test("continues with whole samples after a part of one", async () => {
    const { session } = server.open();
    session.write(Uint8Array.of(1, 0, 2));
    session.detach();
    const resumed = resume(session.id);
    resumed.session.write(Uint8Array.of(3, 0));
    resumed.session.write(sound([0, 1]));
    await resumed.session.end();
    expect([...recordedSound().subarray(0, 4)]).toEqual([1, 0, 3, 0]);
  });
});

describe("after a restart of the server", () => {
  test.each(["stop", "crash"] as const)("by a %s, a session is resumed without a loss", async (kind) => {
    const { session, events } = server.open({ language: null, name: "Talk" });
    session.write(sound([2000, 3], [0, 1], [8000, 3], [0, 1]));
    await events.received("turnCompleted", 2);
    await events.received("speakers", 2);
    session.nameSpeaker("S2", "Anna");
    session.write(sound([8000, 2]));
    if (kind === "stop") {
      await server.restart();
      expect(events.of("ended")).toEqual([{ type: "ended", reason: "stopping", recordingId: null }]);
    } else server.restartAfterCrash();
    const resumed = resume(session.id, 0);
    expect(resumed.receivedSeconds).toBe(10);
    expect(resumed.session.options.name).toBe("Talk");
    const before = resumed.segments.map(({ text }) => text).join(" ");
    resumed.session.write(sound([8000, 1], [0, 1], [2000, 2], [0, 1]));
    await resumed.session.end();
    expect(`${before} ${resumed.events.text}`).toBe([words(0, 3), words(4, 7), words(8, 11), words(12, 14)].join(" "));
    expect(recordedSound().length).toBe(15 * 32_000);
    const text = liveTextOf(server.store, server.queued[0] ?? "");
    expect(text?.segments.map(({ number }) => number)).toEqual(text?.segments.map((_, at) => at) ?? []);
    // The voices are known again by the sound before.
    const speakers = text?.segments.map(({ startSeconds, speaker }) => [Math.floor(startSeconds / 4), speaker]);
    expect(new Map(speakers as [number, string][])).toEqual(
      new Map([
        [0, "S1"],
        [1, "S2"],
        [2, "S2"],
        [3, "S1"],
      ]),
    );
    expect(text?.names.get("S2")).toBe("Anna");
    expect(server.usage.audioSeconds(server.account().id, server.time)).toBe(15);
    expect(server.rows("creates")).toBe(1);
  });

  test("words of a turn that were final before a crash do not come twice", async () => {
    const { session, events } = server.open();
    for (let part = 1; events.of("final").length < 2; part++) {
      session.write(sound([2000, 0.5]));
      while (server.engine.of("detectSpeech").length < part) await Bun.sleep(0);
    }
    const before = events.of("final").map(({ segment }) => segment.text);
    server.restartAfterCrash();
    const resumed = resume(session.id, before.length);
    resumed.session.write(sound([2000, 1], [0, 1]));
    await resumed.session.end();
    const all = [...before, resumed.events.text].join(" ").split(" ");
    expect(all).toEqual(all.map((_, at) => `w${at}`));
    expect(all.length).toBe(Math.floor((resumed.receivedSeconds + 1) * 2));
  });

  test("a session that nobody resumes becomes a recording after two minutes, with the words of all its sound", async () => {
    const { session } = server.open();
    session.write(sound([2000, 3]));
    server.restartAfterCrash();
    server.advance(121);
    while (server.queued.length === 0) await Bun.sleep(0);
    const text = liveTextOf(server.store, server.queued[0] ?? "");
    expect(text?.segments.map((segment) => segment.text).join(" ")).toBe(words(0, 3));
  });

  test("a session whose end had begun becomes a recording at once", async () => {
    const waiting = Promise.withResolvers<void>();
    server.engine.onCall = () => waiting.promise;
    const { session } = server.open();
    session.write(sound([2000, 3]));
    void session.end();
    await Bun.sleep(0);
    server.restartAfterCrash();
    while (server.queued.length === 0) await Bun.sleep(0);
    expect(recordedSound().length).toBe(3 * 32_000);
  });

  test("what belongs to no session is removed", () => {
    const { live } = server.dataDirectory;
    mkdirSync(join(live, "stray"));
    mkdirSync(join(live, Bun.randomUUIDv7()));
    writeFileSync(join(live, "file"), "");
    const { session } = server.open();
    session.write(sound([2000, 1]));
    appendFileSync(join(live, session.id, "sound.pcm"), "x");
    const empty = server.open();
    server.restartAfterCrash();
    expect(server.filesIn("live")).toEqual([session.id]);
    expect(resume(session.id).receivedSeconds).toBe(1);
    expect(refusal(() => resume(empty.session.id))).toEqual({ kind: "unknown_session" });
    expect(server.rows("live_sessions")).toBe(1);
  });
});

describe("a session ends", () => {
  const ended = async (events: Events) => {
    await events.received("ended");
    return events.of("ended")[0];
  };

  test("when no sound arrives for the minutes of the settings", async () => {
    server.settings = { ...server.settings, idle_minutes: 2 };
    const { session, events } = server.open();
    server.advance(119);
    session.write(sound([2000, 1]));
    server.advance(119);
    expect(server.live.status().open).toBe(1);
    server.advance(1);
    expect(await ended(events)).toMatchObject({ reason: "idle" });
    expect(events.text).toBe(words(0, 1));
    expect(refusal(() => session.write(sound([0, 1])))).toEqual({ kind: "unknown_session" });
  });

  test("at the maximum duration of a recording, with exactly that sound", async () => {
    server.limits = { ...server.limits, recording_seconds: 5 };
    const { session, events } = server.open();
    session.write(sound([2000, 3]));
    session.write(sound([2000, 3]));
    expect(await ended(events)).toMatchObject({ reason: "too_long" });
    expect(recordedSound().length).toBe(5 * 32_000);
    expect(events.text).toBe(words(0, 5));
  });

  test("when the account has used up its audio minutes, whichever session used them", async () => {
    server.limits = { ...server.limits, audio_minutes_per_day: 1 };
    const one = server.open();
    const other = server.open({ keep: false });
    one.session.write(sound([0, 40]));
    other.session.write(sound([0, 30]));
    server.advance(10);
    expect(await ended(other.events)).toMatchObject({ reason: "audio_used_up" });
    expect(refusal(() => server.open())).toEqual({ kind: "audio_used_up" });
    server.advance(10);
    expect(await ended(one.events)).toMatchObject({ reason: "audio_used_up" });
  });

  test("within seconds after the access of its client, or its account, is over", async () => {
    let isRevoked = false;
    const requireAccess = () => {
      if (isRevoked) throw new Error("revoked");
    };
    const revoked = server.open({}, server.sender({ requireAccess }));
    const blocked = server.open({}, server.sender({ account: server.account("other") }));
    for (const { session } of [revoked, blocked]) session.write(sound([2000, 1]));
    isRevoked = true;
    changeAccount(server.store, server.account("other"), by(), { standing: "restricted" });
    server.advance(5);
    for (const { events } of [revoked, blocked]) expect(await ended(events)).toMatchObject({ reason: "access" });
    expect(server.queued.length).toBe(2);
  });

  test("when the disk is full, with the sound until then", async () => {
    const { session, events } = server.open();
    session.write(sound([2000, 2]));
    server.freeBytes = 0;
    for (let second = 0; second < 40 && events.of("ended").length === 0; second++) {
      if (refusal(() => session.write(sound([2000, 1]))) !== null) break;
      await Bun.sleep(0);
    }
    // The recording is made once there is disk space again.
    expect(await ended(events)).toEqual({ type: "ended", reason: "disk_full", recordingId: null });
    expect(server.filesIn("live")).toEqual([session.id]);
    server.freeBytes = Number.POSITIVE_INFINITY;
    server.advance(60);
    while (server.filesIn("live").length > 0) await Bun.sleep(0);
    expect(recordedSound().length).toBeGreaterThanOrEqual(32 * 32_000);
    expect(server.queued.length).toBe(1);
  });

  test("when its account is deleted, and nothing of it stays", async () => {
    const { session, events } = server.open();
    session.write(sound([2000, 3], [0, 1]));
    await events.received("turnCompleted");
    const account = server.account();
    const services = { store: server.store, recordings: server.recordings, dataDirectory: server.dataDirectory };
    await removeAccount({ ...services, now: () => server.time }, { kind: "operator", actor: "operator" }, account);
    expect([server.filesIn("live"), server.rows("live_sessions"), server.rows("live_segments")]).toEqual([[], 0, 0]);
    session.write(sound([2000, 1]));
    server.advance(5);
    expect(await ended(events)).toEqual({ type: "ended", reason: "access", recordingId: null });
    expect([server.filesIn("live"), server.filesIn("uploads"), server.queued]).toEqual([[], [], []]);
  });
});

describe("a session is refused", () => {
  test("while live sessions are off, the server stops, or all places are taken", () => {
    server.places = 1;
    server.settings = { ...server.settings, enabled: false };
    expect(refusal(() => server.open())).toEqual({ kind: "off" });
    expect(server.live.status().places).toBe(0);
    server.settings = { ...server.settings, enabled: true };
    server.refusal = "stopping";
    expect(refusal(() => server.open())).toEqual({ kind: "closed", reason: "stopping" });
    server.refusal = null;
    server.open();
    expect(refusal(() => server.open())).toEqual({ kind: "full", sessions: 1 });
    expect(server.live.status()).toEqual({ open: 1, places: 1 });
    server.settings = { ...server.settings, sessions: 2 };
    expect(refusal(() => server.open())).toBeNull();
    expect(server.live.status()).toEqual({ open: 2, places: 2 });
  });

  test("that would take the places of other accounts", () => {
    const open = () => server.open();
    const hasPlace = () => refusal(() => server.live.requirePlace(server.account()));
    open();
    open();
    server.account("other");
    expect(hasPlace()).toEqual({ kind: "account_full", sessions: 2 });
    expect(refusal(open)).toEqual({ kind: "account_full", sessions: 2 });
    const other = server.sender({ account: server.account("other") });
    expect(refusal(() => server.open({}, other))).toBeNull();
    server.limits = { ...server.limits, live_sessions_per_account: 3 };
    expect(refusal(open)).toBeNull();
    expect(hasPlace()).toEqual({ kind: "full", sessions: 4 });
    changeAccount(server.store, server.account(), by(), { limits: { live_sessions_per_account: 1 } });
    server.places = 9;
    expect(refusal(open)).toEqual({ kind: "account_full", sessions: 1 });
  });

  test("without disk space or creates, and uses up nothing", () => {
    server.freeBytes = 0;
    expect(refusal(() => server.open())).toEqual({ kind: "disk_full" });
    server.freeBytes = Number.POSITIVE_INFINITY;
    expect([server.rows("creates"), server.rows("live_sessions"), server.live.status().open]).toEqual([0, 0, 0]);
    server.limits = { ...server.limits, creates_per_hour: 1 };
    server.open();
    expect(refusal(() => server.open())).toMatchObject({ kind: "creates_used_up" });
    expect(server.rows("creates")).toBe(1);
  });
});

test("the names of live speakers become those of the recording's speakers who speak at the same times", async () => {
  const { session, events } = server.open();
  session.write(sound([2000, 3], [0, 1], [8000, 3], [0, 1]));
  await events.received("turnCompleted", 2);
  session.nameSpeaker("S1", "Anna");
  session.nameSpeaker("S2", "Bert");
  await session.end();
  const [id = ""] = server.queued;
  server.recordings.claim(id);
  const at = (index: number, startSeconds: number, endSeconds: number, speaker: number) => {
    return { index, startSeconds, endSeconds, speaker, text: "Hello.", words: [] };
  };
  server.recordings.complete(id, [at(0, 0.1, 2.9, 0), at(1, 4, 6.5, 1), at(2, 6.9, 6.95, 2)]);
  server.events.deliver();
  const names = server.store.$client.query("SELECT speaker, name FROM speaker_names ORDER BY speaker").all();
  expect(names).toEqual([
    { speaker: 0, name: "Anna" },
    { speaker: 1, name: "Bert" },
  ]);
});

test("metrics count sessions, their ends and their sound", async () => {
  const { session } = server.open();
  server.open({ ...automatic, keep: false });
  session.write(sound([2000, 2], [0, 1]));
  await session.end();
  const metrics = await server.metrics.read();
  expect(metrics).toContain('transcribe_live_sessions_ended_total{reason="client"} 1');
  expect(metrics).toContain('transcribe_live_sessions_ended_total{reason="engine"} 0');
  expect(metrics).toContain("transcribe_live_audio_seconds_total 3");
  expect(metrics).toMatch(/transcribe_live_passes_total [1-9]/);
});
