import { describe, expect, test } from "bun:test";
import { EngineCrashError, EngineKilledError, EngineStalledError } from "../../src/engine/errors.ts";
import type { Task } from "../../src/engine/task.ts";
import { countExit, finalError } from "../../src/engine/task.ts";
import { createLogger } from "../../src/telemetry/index.ts";
import { notedRecord } from "../support/scripted-engine.ts";
import { newTask } from "./new-task.ts";

const log = createLogger("silent");
const crashed = { exitCode: null, signal: "SIGSEGV" };
const exited = { exitCode: 1, signal: null };
const killed = { exitCode: null, signal: "SIGKILL" };

describe("an exit of a worker is counted", () => {
  const counts = ({ crashes, kills }: Task) => ({ crashes, kills });

  test.each([
    ["as a crash of all its operations if it crashed", crashed, {}, { crashes: 1, kills: 0 }],
    ["as a crash if it exited by itself", exited, {}, { crashes: 1, kills: 0 }],
    ["as a kill if it was killed from outside", killed, {}, { crashes: 0, kills: 1 }],
    ["as a crash of the operation that it was stuck at", killed, { stalled: true }, { crashes: 1, kills: 0 }],
    ["for no cancelled operation", crashed, { cancelled: true }, { crashes: 0, kills: 0 }],
  ] as const)("%s", (_name, how, state, expected) => {
    const tasks = [newTask(1, state), newTask(2, state)];
    countExit(tasks, how, log);
    expect(tasks.map(counts)).toEqual([expected, expected]);
  });

  test("for no operation that ran next to the stuck one", () => {
    const [stalled, neighbour] = [newTask(1, { stalled: true }), newTask(2)];
    countExit([stalled, neighbour], killed, log);
    expect([counts(stalled), counts(neighbour)]).toEqual([
      { crashes: 1, kills: 0 },
      { crashes: 0, kills: 0 },
    ]);
  });

  test("in the caller's record too, and in memory even if that record cannot be written", () => {
    const record = notedRecord();
    const failing = {
      ...record,
      onInterrupted() {
        throw new Error("the disk is full");
      },
    };
    const tasks = [newTask(1, { record }), newTask(2, { record: failing })];
    countExit(tasks, crashed, log);
    countExit(tasks, killed, log);
    expect(record.noted).toEqual(["crashed", "killed"]);
    expect(tasks.map(counts)).toEqual([
      { crashes: 1, kills: 1 },
      { crashes: 1, kills: 1 },
    ]);
  });
});

describe("an operation fails", () => {
  test.each([
    ["after three crashes", { crashes: 3 }, EngineCrashError],
    [
      "as stalled after three crashes if it was stuck at the last one",
      { crashes: 3, stalled: true },
      EngineStalledError,
    ],
    ["as killed after three kills", { kills: 3 }, EngineKilledError],
  ])("%s", (_name, state, Kind) => {
    expect(finalError(newTask(1, state))?.constructor).toBe(Kind);
  });

  test("not after two crashes and two kills", () => {
    expect(finalError(newTask(1, { crashes: 2, kills: 2, stalled: true }))).toBeNull();
  });
});
