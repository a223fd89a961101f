import { describe, expect, test } from "bun:test";
import { blame, givenUp } from "../../src/engine/blame.ts";
import { EngineCrashError, EngineKilledError, EngineStalledError } from "../../src/engine/errors.ts";
import type { Task } from "../../src/engine/task.ts";
import { createLogger } from "../../src/telemetry/index.ts";
import { askedFor } from "./asked-for.ts";

const log = createLogger("silent");
const crashed = { exitCode: null, signal: "SIGSEGV" };
const ended = { exitCode: 1, signal: null };
const killed = { exitCode: null, signal: "SIGKILL" };

describe("a worker's end is counted", () => {
  const counts = ({ deaths, kills }: Task) => ({ deaths, kills });

  test.each([
    ["as their death against all that it was at, where it crashed", crashed, {}, { deaths: 1, kills: 0 }],
    ["as their death, where it ended by itself", ended, {}, { deaths: 1, kills: 0 }],
    ["as a kill, where somebody killed it", killed, {}, { deaths: 0, kills: 1 }],
    ["as the death of what it came to no end with", killed, { stalled: true }, { deaths: 1, kills: 0 }],
    ["not against what nobody waits for any more", crashed, { abandoned: true }, { deaths: 0, kills: 0 }],
  ] as const)("%s", (_name, how, state, expected) => {
    const tasks = [askedFor(1, state), askedFor(2, state)];
    blame(tasks, how, log);
    expect(tasks.map(counts)).toEqual([expected, expected]);
  });

  test("not against what ran beside the one that it came to no end with", () => {
    const [stalled, beside] = [askedFor(1, { stalled: true }), askedFor(2)];
    blame([stalled, beside], killed, log);
    expect([counts(stalled), counts(beside)]).toEqual([
      { deaths: 1, kills: 0 },
      { deaths: 0, kills: 0 },
    ]);
  });

  test("for whoever asked, too; that it can't be kept there changes nothing here", () => {
    const told: string[] = [];
    const tries = { deaths: 0, begins() {}, died: (death: string) => void told.push(death) };
    const failing = {
      ...tries,
      died() {
        throw new Error("the disk is full");
      },
    };
    const tasks = [askedFor(1, { tries }), askedFor(2, { tries: failing })];
    blame(tasks, crashed, log);
    blame(tasks, killed, log);
    expect(told).toEqual(["of itself", "killed"]);
    expect(tasks.map(counts)).toEqual([
      { deaths: 1, kills: 1 },
      { deaths: 1, kills: 1 },
    ]);
  });
});

describe("an operation is given up", () => {
  test.each([
    ["after three deaths", { deaths: 3 }, EngineCrashError],
    ["after three, the last for want of an end", { deaths: 3, stalled: true }, EngineStalledError],
    ["for now after three kills", { kills: 3 }, EngineKilledError],
  ])("%s", (_name, state, Kind) => {
    expect(givenUp(askedFor(1, state))?.constructor).toBe(Kind);
  });

  test("not before", () => {
    expect(givenUp(askedFor(1, { deaths: 2, kills: 2, stalled: true }))).toBeNull();
  });
});
