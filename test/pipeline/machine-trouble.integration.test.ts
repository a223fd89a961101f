import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { copyFileSync, readdirSync } from "node:fs";
import { Type } from "@sinclair/typebox";
import { available, ffmpegPath, samplePath } from "../../harness/checkout.ts";
import { EngineOperationError } from "../../src/engine/index.ts";
import { Checkpoints } from "../../src/recordings/index.ts";
import { QuietPipeline, unused } from "./services.ts";

const jfk = samplePath("jfk.mp3");

describe.if(available("tests of a pipeline on a machine in trouble", ffmpegPath, jfk))("a recording", () => {
  let pipeline: QuietPipeline;
  let id: string;
  let reserveBytes = 0;
  /** Runs when the engine detects the first block. */
  let detects: (tries: number) => unknown;

  beforeEach(() => {
    let tries = 0;
    // planChunks finds no chunk, so the recording contains no speech.
    const run = async (operation: string) => (operation === "planChunks" ? { chunks: [] } : detects(++tries));
    pipeline = new QuietPipeline(run, { reserveBytes: () => reserveBytes });
    id = pipeline.create();
    copyFileSync(jfk, pipeline.dataDirectory.localAudio.pathOf(id));
    reserveBytes = 0;
    detects = () => ({});
  });
  afterEach(() => pipeline[Symbol.dispose]());

  const process = () => pipeline.process(id);
  const ended = () => pipeline.ended(id);

  test("without disk space for its audio waits before decoding, and resumes when there is space", async () => {
    reserveBytes = 2 ** 50;
    expect(await process()).toEqual({ waitsFor: "no_room" });
    expect(ended()).toEqual(["processing", null, null]);
    expect(readdirSync(pipeline.dataDirectory.filesOf(id).work)).toEqual([]);
    reserveBytes = 0;
    expect(await process()).toBeNull();
    expect(ended()).toEqual(["failed", "no_speech", null]);
  });

  test.each([
    ["ENOSPC", "disk_full"],
    ["EROFS", "read_only"],
    ["EMFILE", "too_many_files"],
  ] as const)("waits when the worker meets %s, and resumes at its checkpoint", async (code, waitsFor) => {
    detects = (tries) => {
      if (tries === 1) throw new EngineOperationError("it can't be written", code);
      return {};
    };
    expect(await process()).toEqual({ waitsFor });
    expect(ended()).toEqual(["processing", null, null]);
    expect(await process()).toBeNull();
    expect(ended()).toEqual(["failed", "no_speech", null]);
  });

  test("that alone meets a machine problem on a healthy disk fails after a few attempts without progress", async () => {
    let blocks = 0;
    detects = () => {
      throw new EngineOperationError("it can't be read", "EIO");
    };
    const tryUntil = async (holds: () => boolean) => {
      for (let tries = 1; tries < 50; tries++) {
        await process();
        if (holds()) return tries;
      }
      return unused();
    };
    const isEnded = () => ended()[0] === "failed";
    await tryUntil(() => ++blocks === 5);
    // After progress by one part, the count starts again.
    new Checkpoints(pipeline.store, id).write("activity", 7, Type.Object({}), {});
    expect(await tryUntil(isEnded)).toBe(9);
    expect(ended()).toEqual(["failed", "internal", "unexpected"]);
  });

  test("that meets a machine problem on a full disk waits, however often", async () => {
    detects = () => {
      reserveBytes = 2 ** 50;
      throw new EngineOperationError("it can't be read", "ENOSPC");
    };
    expect(await process()).toEqual({ waitsFor: "disk_full" });
    for (let tries = 0; tries < 20; tries++) expect(await process()).toEqual({ waitsFor: "disk_full" });
    expect(ended()).toEqual(["processing", null, null]);
  });

  test("waits when its progress or its end cannot be stored", async () => {
    detects = () => {
      pipeline.store.$client.run("PRAGMA query_only = ON");
      return {};
    };
    expect(await process()).toEqual({ waitsFor: "read_only" });
    pipeline.store.$client.run("PRAGMA query_only = OFF");
    detects = () => ({});
    expect(await process()).toBeNull();
    expect(ended()).toEqual(["failed", "no_speech", null]);
  });

  test("of `transcribe run` fails at once instead of waiting", async () => {
    reserveBytes = 2 ** 50;
    pipeline.services = { ...pipeline.services, waitsForMachine: false };
    expect(await process()).toBeNull();
    expect(ended()).toEqual(["failed", "internal", "disk_full"]);
  });

  test("is retried once after a failed operation, and fails the second time", async () => {
    detects = (tries) => {
      if (tries === 1) throw new EngineOperationError("a block is damaged");
      return {};
    };
    expect(await process()).toBeNull();
    expect(ended()).toEqual(["failed", "no_speech", null]);
    pipeline.store.$client.run("UPDATE recordings SET status = 'queued', failure_reason = NULL");
    let asked = 0;
    detects = () => {
      asked += 1;
      throw new EngineOperationError("it is always so");
    };
    expect(await process()).toBeNull();
    expect([asked, ...ended()]).toEqual([2, "failed", "internal", "unexpected"]);
  });
});
