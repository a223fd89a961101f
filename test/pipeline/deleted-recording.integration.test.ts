import { expect, test } from "bun:test";
import { samplePath } from "../../harness/checkout.ts";
import { newRecording } from "../../harness/new-recording.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { createAccount, Usage } from "../../src/accounts/index.ts";
import { parseAllowList } from "../../src/media/index.ts";
import { fetchLink, processRecording } from "../../src/pipeline/index.ts";
import { RecordingEvents, Recordings } from "../../src/recordings/index.ts";
import { DataDirectory, DiskSpace, openDatabase, WorkReservations } from "../../src/storage/index.ts";
import { createLogger } from "../../src/telemetry/index.ts";
import { metricsWithoutEngine } from "../support/metrics-without-engine.ts";
import { unused, unusedModels } from "./services.ts";

const noClaim = () => ({ written: () => {}, [Symbol.dispose]: () => {} });

test("a recording that is deleted during the download of its link leaves no file, and ends once", async () => {
  using directory = temporaryDirectory();
  const dataDirectory = new DataDirectory(directory.path);
  const store = openDatabase(":memory:");
  const recordings = new Recordings(store, Date.now);
  const { id: accountId } = createAccount(store, "acme", { actor: "operator", now: 1 });
  const id = Bun.randomUUIDv7();
  const bytes = await Bun.file(samplePath("jfk.mp3")).bytes();

  using host = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => {
      const body = async function* () {
        yield bytes.subarray(0, 20_000);
        recordings.fail(id, { reason: "internal", cause: "cancelled" });
        recordings.delete(id);
        await dataDirectory.removeFiles(id);
        yield bytes.subarray(20_000);
      };
      return new Response(body(), { headers: { "content-type": "audio/mpeg" } });
    },
  });
  const sourceUrl = `http://127.0.0.1:${host.port}/talk.mp3`;
  recordings.create(newRecording(id, accountId, { sourceUrl, sizeBytes: null, sourceName: null }));
  const ended: Parameters<Parameters<RecordingEvents["onEnded"]>[1]>[0][] = [];
  const events = new RecordingEvents(store, createLogger("silent"));
  events.onEnded("test", (event) => ended.push(event));
  const services = {
    ...{ store, recordings, dataDirectory, log: createLogger("silent"), now: Date.now },
    usage: new Usage(store),
    metrics: metricsWithoutEngine({ recordings, dataPaths: dataDirectory, now: Date.now }),
    engine: {
      partsAtOnce: 1,
      run: unused,
    },
    events,
    models: unusedModels,
    fetchOptions: () => ({
      enabled: true,
      allow: parseAllowList(["127.0.0.0/8"]),
      maxBytes: 10_000_000,
      maxSeconds: 60,
      stallSeconds: 30,
      userAgent: "test",
      reserveSpace: noClaim,
    }),
    decodeOptions: () => ({ ffmpegPath: "unused", maxSeconds: 60 }),
    workReservations: new WorkReservations(new DiskSpace(directory.path, () => 0)),
    audioAllowanceSeconds: () => 1000,
    dropsAudio: () => false,
    waitsForMachine: true,
  };
  expect(await fetchLink(services, id, new AbortController().signal)).toBeNull();
  expect(recordings.get(id)).toBeNull();
  const files = await Array.fromAsync(new Bun.Glob("{uploads,work,incoming}/**").scan({ cwd: directory.path }));
  expect(files).toEqual([]);
  expect(ended).toEqual([{ id, outcome: "cancelled" }]);
  // A recording that waits for the machine may be ended by a command before its next attempt.
  await processRecording(services, id, new AbortController().signal);
  expect(ended).toHaveLength(1);
});
