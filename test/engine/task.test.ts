import { describe, expect, test } from "bun:test";
import { EngineCrashError, EngineKilledError, EngineStalledError } from "../../src/engine/errors.ts";
import type { Task } from "../../src/engine/task.ts";
import { countExit, finalError } from "../../src/engine/task.ts";
import { createLogger } from "../../src/telemetry/index.ts";
import { newTask } from "./new-task.ts";

const log = createLogger("silent");
const crashed = { exitCode: null, signal: "SIGSEGV" };
const ended = { exitCode: 1, signal: null };
const killed = { exitCode: null, signal: "SIGKILL" };

describe("a worker's end is counted", () => {
  const counts = ({ crashes, kills }: Task) => ({ crashes, kills });

  test.each([
    ["as their death against all that it was at, where it crashed", crashed, {}, { crashes: 1, kills: 0 }],
    ["as their death, where it ended by itself", ended, {}, { crashes: 1, kills: 0 }],
    ["as a kill, where somebody killed it", killed, {}, { crashes: 0, kills: 1 }],
    ["as the death of what it came to no end with", killed, { stalled: true }, { crashes: 1, kills: 0 }],
    ["not against what nobody waits for any more", crashed, { cancelled: true }, { crashes: 0, kills: 0 }],
  ] as const)("%s", (_name, how, state, expected) => {
    const tasks = [newTask(1, state), newTask(2, state)];
    countExit(tasks, how, log);
    expect(tasks.map(counts)).toEqual([expected, expected]);
  });

  test("not against what ran beside the one that it came to no end with", () => {
    const [stalled, beside] = [newTask(1, { stalled: true }), newTask(2)];
    countExit([stalled, beside], killed, log);
    expect([counts(stalled), counts(beside)]).toEqual([
      { crashes: 1, kills: 0 },
      { crashes: 0, kills: 0 },
    ]);
  });

  test("for whoever asked, too; that it can't be kept there changes nothing here", () => {
    const told: string[] = [];
    const tries = { crashes: 0, onStart() {}, onInterrupted: (death: string) => void told.push(death) };
    const failing = {
      ...tries,
      onInterrupted() {
        throw new Error("the disk is full");
      },
    };
    const tasks = [newTask(1, { record: tries }), newTask(2, { record: failing })];
    countExit(tasks, crashed, log);
    countExit(tasks, killed, log);
    expect(told).toEqual(["crashed", "killed"]);
    expect(tasks.map(counts)).toEqual([
      { crashes: 1, kills: 1 },
      { crashes: 1, kills: 1 },
    ]);
  });
});

describe("an operation is given up", () => {
  test.each([
    ["after three crashes", { crashes: 3 }, EngineCrashError],
    ["after three, the last for want of an end", { crashes: 3, stalled: true }, EngineStalledError],
    ["for now after three kills", { kills: 3 }, EngineKilledError],
  ])("%s", (_name, state, Kind) => {
    expect(finalError(newTask(1, state))?.constructor).toBe(Kind);
  });

  test("not before", () => {
    expect(finalError(newTask(1, { crashes: 2, kills: 2, stalled: true }))).toBeNull();
  });
});
