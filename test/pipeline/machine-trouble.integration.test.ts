import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { copyFileSync, readdirSync } from "node:fs";
import { Type } from "@sinclair/typebox";
import { available, ffmpegPath, samplePath } from "../../harness/checkout.ts";
import { newRecording } from "../../harness/new-recording.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { createAccount } from "../../src/accounts/index.ts";
import { EngineOperationError } from "../../src/engine/index.ts";
import { type PipelineServices, processRecording } from "../../src/pipeline/index.ts";
import { Checkpoints, Recordings } from "../../src/recordings/index.ts";
import { DataDirectory, DiskSpace, openDatabase, type Store } from "../../src/storage/index.ts";
import { createLogger } from "../../src/telemetry/index.ts";
import { quietServices, unused } from "./services.ts";

const jfk = samplePath("jfk.mp3");

describe.if(available("tests of a pipeline on a machine in trouble", ffmpegPath, jfk))("a recording", () => {
  let parent: ReturnType<typeof temporaryDirectory>;
  let store: Store;
  let recordings: Recordings;
  let id: string;
  let services: PipelineServices;
  let reserveBytes = 0;
  /** Runs when the engine detects the first block. */
  let detects: (tries: number) => unknown;

  beforeEach(() => {
    parent = temporaryDirectory();
    const dataDirectory = new DataDirectory(parent.path);
    store = openDatabase(":memory:");
    recordings = new Recordings(store, Date.now);
    id = Bun.randomUUIDv7();
    const { id: accountId } = createAccount(store, "acme", { actor: "operator", now: 1 });
    recordings.create(newRecording(id, accountId));
    copyFileSync(jfk, dataDirectory.audio.pathOf(id));
    reserveBytes = 0;
    const room = new DiskSpace(parent.path, () => reserveBytes);
    let tries = 0;
    // planChunks finds no chunk, so the recording contains no speech.
    const run = async (operation: string) => (operation === "planChunks" ? { chunks: [] } : detects(++tries));
    services = quietServices({ store, recordings, dataDirectory, log: createLogger("silent"), run, room });
    detects = () => ({});
  });
  afterEach(() => {
    store.$client.close();
    parent[Symbol.dispose]();
  });

  const process = () => processRecording(services, id, new AbortController().signal);
  const ended = () => {
    const { status, failureReason, failureCause } = recordings.get(id) ?? unused();
    return [status, failureReason, failureCause];
  };

  test("without disk space for its audio waits before decoding, and resumes when there is space", async () => {
    reserveBytes = 2 ** 50;
    expect(await process()).toEqual({ waitsFor: "no_room" });
    expect(ended()).toEqual(["processing", null, null]);
    expect(readdirSync(services.dataDirectory.filesOf(id).work)).toEqual([]);
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
    const isEnded = () => recordings.get(id)?.status === "failed";
    await tryUntil(() => ++blocks === 5);
    // After progress by one part, the count starts again.
    new Checkpoints(store, id).write("activity", 7, Type.Object({}), {});
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
      store.$client.run("PRAGMA query_only = ON");
      return {};
    };
    expect(await process()).toEqual({ waitsFor: "read_only" });
    store.$client.run("PRAGMA query_only = OFF");
    detects = () => ({});
    expect(await process()).toBeNull();
    expect(ended()).toEqual(["failed", "no_speech", null]);
  });

  test("of `transcribe run` fails at once instead of waiting", async () => {
    reserveBytes = 2 ** 50;
    services = { ...services, waitsForMachine: false };
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
    store.$client.run("UPDATE recordings SET status = 'queued', failure_reason = NULL");
    let asked = 0;
    detects = () => {
      asked += 1;
      throw new EngineOperationError("it is always so");
    };
    expect(await process()).toBeNull();
    expect([asked, ...ended()]).toEqual([2, "failed", "internal", "unexpected"]);
  });
});
