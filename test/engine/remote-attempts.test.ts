import { expect, test } from "bun:test";
import { RemoteAttempts } from "../../src/engine/index.ts";
import { createLogger } from "../../src/telemetry/index.ts";
import { notedRecord } from "../support/scripted-engine.ts";

const log = createLogger("silent");
const area = { directory: "/", pcm: { path: "/pcm", sampleCount: 16_000 } };
const operation = { operation: "detectBlock", params: { area, block: 0 } } as const;

/** Resolves with the limit of the first activity that is overdue. */
function overdue() {
  const { promise, resolve } = Promise.withResolvers<[string, number]>();
  return { promise, of: (name: string) => (_: number, limitSeconds: number) => resolve([name, limitSeconds]) };
}

test("an attempt of a machine is overdue at its limit, unless it was released", async () => {
  using attempts = new RemoteAttempts({ log, maxSeconds: 0.05, checkMilliseconds: 5 });
  const late = overdue();
  attempts.starts("a", operation, "w0", late.of("released"));
  attempts.release("a");
  attempts.starts("b", operation, "w0", late.of("attempt"));
  expect(await late.promise).toEqual(["attempt", 0.05]);
});

test("an attempt replaces the wait for its start", async () => {
  using attempts = new RemoteAttempts({ log, maxSeconds: 0.05, checkMilliseconds: 5 });
  const late = overdue();
  attempts.waits("a", operation, late.of("wait"));
  attempts.starts("a", operation, "w0", late.of("attempt"));
  expect(await late.promise).toEqual(["attempt", 0.05]);
});

test("lost attempts of an operation use up its attempts, and returned ones do not", () => {
  using attempts = new RemoteAttempts({ log });
  const record = notedRecord();
  const outcomes = [1, 2, 3].map((lost) => attempts.countLost("detectBlock", record, lost)?.name ?? null);
  attempts.countReturned(record);
  expect([outcomes, record.noted]).toEqual([
    [null, null, "EngineKilledError"],
    ["killed", "killed", "killed", "returned"],
  ]);
});
