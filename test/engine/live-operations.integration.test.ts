import { afterEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { type Engine, EngineCrashError } from "../../src/engine/index.ts";
import { closeEngines, never, notedRecord, run, script, scriptedEngine } from "../support/scripted-engine.ts";

afterEach(closeEngines);

/** Runs a live pass. */
function pass(engine: Engine, path: string, signal = never) {
  const span = { startSeconds: 0, endSeconds: 1 };
  return engine.run("transcribeLive", { ...script(path), span, model: "/", language: "en", isLast: false }, signal);
}

describe("a live operation", () => {
  test("runs while operations of recordings hold all lanes and others wait", async () => {
    const engine = scriptedEngine({ lanes: 2 });
    const enough = new AbortController();
    const held = [1, 2, 3].map(() => run(engine, "wait", enough.signal).catch(() => "stopped"));
    expect(await pass(engine, "answer")).toEqual({ words: [] });
    enough.abort();
    expect(await Promise.all(held)).toEqual(["stopped", "stopped", "stopped"]);
  });

  test("fails when its worker exits, and the operation of a recording next to it is retried", async () => {
    using directory = temporaryDirectory();
    const engine = scriptedEngine({ lanes: 2 });
    const record = notedRecord();
    const recording = run(engine, `crash-until:1:${join(directory.path, "attempts")}`, never, record);
    await expect(pass(engine, "wait")).rejects.toBeInstanceOf(EngineCrashError);
    expect(await recording).toEqual({ chunks: [] });
    expect(record.noted).toEqual(["start", "crashed", "start"]);
    expect(await pass(engine, "answer")).toEqual({ words: [] });
  });
});
