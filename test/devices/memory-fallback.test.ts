import { expect, test } from "bun:test";
import pino from "pino";
import { MemoryFallback } from "../../src/devices/memory-fallback.ts";
import { type MemoryUse, memoryNeed } from "../../src/devices/memory-need.ts";
import type { UnexpectedExit } from "../../src/engine/index.ts";

const MiB = 1024 ** 2;
const MINUTE = 60_000;
const killed: UnexpectedExit = { exitCode: null, signal: "SIGKILL" };
const killedForMemory: UnexpectedExit = { ...killed, killedForMemory: true };

/** Returns a fallback in a container with a limit, and its surroundings. */
function container() {
  const state = { now: 0, limitBytes: (400 * MiB) as number | null, ends: 0, events: [] as string[] };
  const fallback = new MemoryFallback({
    log: pino({ base: null }, { write: (line) => void state.events.push(JSON.parse(line).event) }),
    memory: () => ({ ...state, totalBytes: state.limitBytes ?? 16_384 * MiB, availableBytes: 0 }),
    need: () => 1200 * MiB,
    onEnd: () => {
      state.ends += 1;
    },
    now: () => state.now,
  });
  return { fallback, state };
}

test.each<[string, UnexpectedExit, boolean]>([
  ["the kernel's kill for lack of memory", killedForMemory, true],
  ["another kill", killed, false],
  ["a kill because it was stuck", { ...killed, stalled: true }, false],
  ["a GPU whose memory is short", { ...killed, gpuFailure: { message: "out of memory", outOfMemory: true } }, false],
  ["a crash", { exitCode: null, signal: "SIGSEGV" }, false],
])("after %s, one operation runs at once: %#", (_, exit, isActive) => {
  const { fallback, state } = container();
  fallback.after(exit);
  expect([fallback.isActive, state.events]).toEqual([isActive, isActive ? ["engine.one_operation_at_once"] : []]);
  fallback.close();
});

test("the fallback ends an hour after the last kill, once", () => {
  const { fallback, state } = container();
  fallback.after(killedForMemory);
  state.now = 50 * MINUTE;
  fallback.after(killedForMemory);
  state.now = 109 * MINUTE;
  fallback.check();
  expect([fallback.isActive, state.ends]).toEqual([true, 0]);
  state.now = 110 * MINUTE;
  fallback.check();
  fallback.check();
  expect([fallback.isActive, state.ends]).toEqual([false, 1]);
  expect(state.events).toEqual(["engine.one_operation_at_once", "engine.usual_operations_at_once"]);
});

test.each<[string, number | null, boolean]>([
  ["raised", 800 * MiB, false],
  ["removed", null, false],
  ["lowered", 200 * MiB, true],
])("a limit that is %s at run time changes the fallback only if there is more memory", (_, limitBytes, isActive) => {
  const { fallback, state } = container();
  fallback.after(killedForMemory);
  state.limitBytes = limitBytes;
  state.now = MINUTE;
  fallback.check();
  expect([fallback.isActive, state.ends]).toEqual([isActive, isActive ? 0 : 1]);
  fallback.close();
});

test("a limit below the need is a warning before the first kill", () => {
  const { fallback, state } = container();
  expect(fallback.warning()).toBe("memory limit 400 MiB, needed about 1.2 GiB");
  state.limitBytes = 1200 * MiB;
  expect(fallback.warning()).toBeNull();
  state.limitBytes = null;
  expect(fallback.warning()).toBeNull();
  expect(fallback.shortage()).toBe("memory of the machine 16 GiB, needed about 1.2 GiB");
});

test("the need grows with slots, with the operations of a CPU and with the workers of GPUs, and a setting limits it", () => {
  const base = { modelBytes: 100e6, threads: 2, lanes: 0, gpus: 0, tunings: [], slots: 2, availableBytes: 16e9 };
  const need = (changes: Partial<MemoryUse>) => memoryNeed({ ...base, ...changes });
  expect(need({})).toBe(250e6 + 350e6 + 100e6 + 2 * 180e6 + 2 * 60e6);
  expect(need({ threads: 64 }) - need({})).toBe(2 * 180e6);
  expect(need({ threads: 64, lanes: 1 }) - need({})).toBe(-180e6);
  expect(need({ slots: 4 }) - need({})).toBe(2 * 60e6);
  expect(need({ gpus: 2 }) - need({ gpus: 1 })).toBe(350e6 + 100e6 + 180e6);
  const tuning = { device: "CUDA0", name: "a GPU", library: "/", model: "/", threads: 64, version: "1", measuredAt: 0 };
  const tunings = [{ ...tuning, measured: [{ lanes: 16, threads: 4, speed: 700 }], isComplete: true }];
  expect(need({ threads: 64, gpus: 1, tunings }) - need({ threads: 64, gpus: 1 })).toBe(2 * 250e6);
});
