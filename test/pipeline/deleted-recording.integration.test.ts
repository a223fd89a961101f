import { expect, test } from "bun:test";
import { samplePath } from "../../harness/checkout.ts";
import { parseAllowList } from "../../src/addresses/index.ts";
import { fetchLink } from "../../src/pipeline/index.ts";
import type { RecordingEvents } from "../../src/recordings/index.ts";
import { never, QuietPipeline, unused } from "./services.ts";

test("a recording that is deleted during the download of its link leaves no file, and ends once", async () => {
  using pipeline = new QuietPipeline(unused);
  const { recordings, dataDirectory, services } = pipeline;
  let id = "";
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
  id = pipeline.create({ sourceUrl, sizeBytes: null, sourceName: null });
  const ended: Parameters<Parameters<RecordingEvents["onEnded"]>[1]>[0][] = [];
  services.events.onEnded("test", (event) => ended.push(event));
  const allowed = { allow: parseAllowList(["127.0.0.0/8"]), maxBytes: 10_000_000, maxSeconds: 60, stallSeconds: 30 };
  pipeline.services = { ...services, fetchOptions: () => ({ ...services.fetchOptions(), ...allowed }) };
  expect(await fetchLink(pipeline.services, id, never)).toBeNull();
  expect(recordings.get(id)).toBeNull();
  const files = await Array.fromAsync(new Bun.Glob("{uploads,work,incoming}/**").scan({ cwd: dataDirectory.root }));
  expect(files).toEqual([]);
  expect(ended).toEqual([{ id, outcome: "cancelled" }]);
  // A recording that waits for the machine may be ended by a command before its next attempt.
  await pipeline.process(id);
  expect(ended).toHaveLength(1);
});
