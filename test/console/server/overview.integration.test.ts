import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { Value } from "@sinclair/typebox/value";
import { type Overview, overviewSchema } from "../../../src/console/contract/index.ts";
import { signOutEverywhere } from "../../../src/console/index.ts";
import { ConsoleServer } from "../../support/console.ts";

setDefaultTimeout(60_000);

describe("the overview", () => {
  test("shows open recordings: those in progress, then the queued ones in the queue's order", async () => {
    using server = new ConsoleServer();
    const { api } = server;
    const { id: account } = api.account("first");
    const [late, soon] = [api.enterQueued(account, { sourceName: "late" }), api.enterQueued(account)];
    const running = api.enterProcessing(account);
    const fetching = api.enterQueued(account, { sourceName: null, sourceUrl: "https://media.example.org/a.mp3" });
    api.recordings.progress(running, "decode", 7);
    api.recordings.progress(fetching, "fetch", null);
    server.waiting = [soon, late];
    const overview = await (await server.operator()).read("/overview", overviewSchema);
    expect(overview.recordings.map(({ id, place }) => [id, place])).toEqual([
      [running, null],
      [fetching, null],
      [soon, 1],
      [late, 2],
    ]);
    expect(overview.recordings[0]).toMatchObject({ progress: { step: "decode", percent: 7, indeterminate: false } });
    expect(overview.recordings[1]).toMatchObject({
      ...{ name: "https://media.example.org/a.mp3", progress: { step: "fetch", indeterminate: true } },
    });
    expect(overview.queue).toMatchObject({ queued: 3, processing: 1, slots: 5 });
  });

  test("shows the workers of a fleet, and none without a fleet", async () => {
    using server = new ConsoleServer();
    const operator = await server.operator();
    expect((await operator.read("/overview", overviewSchema)).fleet).toBeNull();
    const usual = { version: "1.0", lanes: 2, busy: 1, problem: null };
    const more = { build: "secret", models: ["a"], clock: 1, silentMilliseconds: 5 };
    server.machines = [
      { ...usual, ...more, machine: "w1" },
      { ...usual, machine: "w2", lanes: 0, problem: "it runs version 0" },
    ];
    expect((await operator.read("/overview", overviewSchema)).fleet).toEqual([
      { ...usual, name: "w1" },
      { ...usual, name: "w2", lanes: 0, problem: "it runs version 0" },
    ]);
  });

  test("shows the received and completed audio of each of thirty days, including deleted recordings", async () => {
    using server = new ConsoleServer();
    const { api } = server;
    api.now = () => Date.parse("2026-11-20T23:00:00Z");
    const { id: account } = api.account("first");
    const long = api.enterProcessing(account);
    api.recordings.describe(long, { durationSeconds: 3600 });
    api.recordings.describe(long, { durationSeconds: 3600 });
    api.advance(2 * 3_600_000);
    api.recordings.complete(long, []);
    api.recordings.delete(long);
    await api.recordings.rows.removeDeleted([long]);
    api.enterFailed(account);
    const { days } = await (await server.operator()).read("/overview", overviewSchema);
    expect(days).toHaveLength(30);
    expect(days.slice(-2)).toEqual([
      { day: "2026-11-20", received_seconds: 3600, completed_seconds: 0, completed: 0, failed: 0 },
      { day: "2026-11-21", received_seconds: 0, completed_seconds: 3600, completed: 1, failed: 1 },
    ]);
    expect(days[0]).toMatchObject({ day: "2026-10-23", received_seconds: 0 });
  });

  test("shows the speed of each device, the refusals, and the exits of the worker", async () => {
    using server = new ConsoleServer();
    const { metrics } = server.api.appOptions;
    metrics.engine.stepDone({ step: "transcribe", device: "vulkan", gpu: "VULKAN0", seconds: 2, audioSeconds: 50 });
    metrics.engine.stepDone({ step: "transcribe", device: "vulkan", gpu: "VULKAN0", seconds: 2, audioSeconds: 70 });
    metrics.engine.unexpectedExit("SIGILL");
    await fetch(`${server.api.baseUrl}/transcriptions`);
    server.api.trouble = "the disk is full";
    const overview = await (await server.operator()).read("/overview", overviewSchema);
    expect(overview.speed).toEqual([
      {
        step: "transcribe",
        device: "vulkan",
        gpu: "VULKAN0",
        work_seconds: 4,
        audio_seconds: 120,
        times_real_time: 30,
      },
    ]);
    expect(overview.refusals).toEqual([{ code: "missing_api_key", count: 1 }]);
    expect(overview.worker).toEqual({
      ...{ state: "ready", lanes: 2, waiting: 3, decoder: { slots: 2, rows_per_step: 6.1 } },
      crashes: [{ signal: "SIGILL", count: 1 }],
    });
    expect(overview.server).toMatchObject({ model: "whisper-base", problem: "the disk is full" });
    expect(overview.memory.worker_bytes).toBeGreaterThan(1e6);
    expect(overview.disk?.size_bytes).toBeGreaterThan(overview.disk?.free_bytes ?? 0);
    expect(Object.keys(overview.disk?.folders ?? {})).toContain("uploads");
  });
});

/** Reads server-sent events one by one. */
async function* eventsOf(answer: Response): AsyncGenerator<Overview> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const piece of answer.body ?? []) {
    text += decoder.decode(piece, { stream: true });
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const lines = text.slice(0, end).split("\n");
      text = text.slice(end + 2);
      if (lines.every((line) => line.startsWith(":"))) continue;
      expect(lines[0]).toBe("event: overview");
      const data: unknown = JSON.parse((lines[1] ?? "").replace(/^data: /, ""));
      if (!Value.Check(overviewSchema, data)) throw new Error("this is no overview");
      yield data;
    }
  }
}

describe("the stream of the overview", () => {
  test("sends an event at once and after each change, and none without a change", async () => {
    using server = new ConsoleServer();
    const { api } = server;
    api.advance(0);
    const { id: account } = api.account("first");
    const id = api.enterProcessing(account);
    const operator = await server.operator();
    const answer = await operator.data("/events");
    expect(answer.headers.get("content-type")).toBe("text/event-stream");
    expect(answer.headers.get("cache-control")).toBe("no-store");
    const percents: (number | null)[] = [];
    for await (const { recordings } of eventsOf(answer)) {
      percents.push(recordings[0]?.progress.percent ?? null);
      if (percents.length === 1) api.recordings.progress(id, "transcribe", 30);
      if (percents.length === 2) api.recordings.complete(id, []);
      if (percents.length === 3) break;
    }
    expect(percents).toEqual([null, 30, null]);
  });

  test("ends with the session, and when the server stops", async () => {
    using server = new ConsoleServer();
    const ends = [
      () => void signOutEverywhere(server.api.store, server.api.operator()),
      () => void server.console?.close(),
    ];
    for (const end of ends) {
      const answer = await (await server.operator()).data("/events");
      let told = 0;
      for await (const _ of eventsOf(answer)) if (++told === 1) end();
      expect(told).toBe(1);
    }
    expect((await (await server.operator()).data("/events")).status).toBe(503);
  });

  test("serves ten windows of a session, and other sessions as well", async () => {
    using server = new ConsoleServer();
    const [one, other] = [await server.operator(), await server.operator()];
    const open = await Promise.all(Array.from({ length: 10 }, () => one.data("/events")));
    expect(open.map(({ status }) => status)).toEqual(open.map(() => 200));
    expect(await one.refusal(one.data("/events"), 429)).toBe("too_many_attempts");
    const others = await other.data("/events");
    expect(others.status).toBe(200);
    for (const each of [others, ...open]) await each.body?.cancel();
  });

  test("serves a bounded number of windows, and the next one when one of them is closed", async () => {
    using server = new ConsoleServer();
    const operators = await Promise.all(Array.from({ length: 5 }, () => server.operator()));
    const windows = operators.flatMap((each) => Array.from({ length: 10 }, () => each));
    const open = await Promise.all(windows.map((each) => each.data("/events")));
    expect(open.map(({ status }) => status)).toEqual(windows.map(() => 200));
    const operator = await server.operator();
    expect(await operator.refusal(operator.data("/events"), 429)).toBe("too_many_attempts");
    await open[0]?.body?.cancel();
    let answer = await operator.data("/events");
    while (answer.status !== 200) answer = await operator.data("/events");
    for (const each of [answer, ...open.slice(1)]) await each.body?.cancel();
  });
});
