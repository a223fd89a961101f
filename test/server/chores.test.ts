import { afterEach, expect, jest, test } from "bun:test";
import pino from "pino";
import { Chores } from "../../src/server/chores.ts";

afterEach(() => jest.useRealTimers());

/** Returns chores with the log lines that they write. */
function chores() {
  const log: Record<string, unknown>[] = [];
  return { log, chores: new Chores(pino({ base: null }, { write: (line) => void log.push(JSON.parse(line)) })) };
}

test("a chore that fails is logged and runs again at its next time, and the others continue", () => {
  jest.useFakeTimers();
  const made = chores();
  let attempts = 0;
  let others = 0;
  made.chores.every(1000, "retention", () => {
    attempts += 1;
    if (attempts === 1) throw new Error("ENOSPC: no space left on device");
  });
  made.chores.every(1000, "other", () => {
    others += 1;
  });
  jest.advanceTimersByTime(2000);
  made.chores.stop();
  jest.advanceTimersByTime(5000);
  expect([attempts, others]).toEqual([2, 2]);
  expect(made.log).toHaveLength(1);
  expect(made.log[0]).toMatchObject({
    event: "server.chore_failed",
    chore: "retention",
    trouble: "ENOSPC: no space left on device",
  });
});

test("a chore that fails later is logged, but not after the chores were stopped", async () => {
  const made = chores();
  const later = async () => {
    await Promise.resolve();
    throw new Error("a closed database");
  };
  made.chores.run("work of ended recordings", later);
  await Bun.sleep(0);
  made.chores.run("work of ended recordings", later);
  made.chores.stop();
  await Bun.sleep(0);
  expect(made.log).toHaveLength(1);
  expect(made.log[0]).toMatchObject({ event: "server.chore_failed", chore: "work of ended recordings" });
});

test("a chore that is still running is not started a second time, but again after its end", async () => {
  const made = chores();
  let ends: (() => void)[] = [];
  const long = () => new Promise<void>((resolve) => void ends.push(resolve));
  made.chores.run("retention", long);
  made.chores.run("retention", long);
  made.chores.run("other", long);
  expect(ends).toHaveLength(2);
  for (const end of ends) end();
  ends = [];
  await Bun.sleep(0);
  made.chores.run("retention", long);
  expect(ends).toHaveLength(1);
});
