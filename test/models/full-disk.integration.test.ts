import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { canMount, SmallDisk } from "../../harness/small-disk.ts";
import { pullModel } from "../../src/models/index.ts";
import { bundleAt, OWN, officialEntry, TestLibrary } from "../support/models.ts";

const words = /not enough disk space: 1 MiB are needed and 256 MiB must stay free, but only [0-9] MiB are free/;

/** Mounts a file system of 8 MiB, less than the space that must stay free for a server. */
const shrink = ({ dataDirectory }: TestLibrary) => new SmallDisk(dataDirectory, "size=8m");

describe.if(canMount)("on a disk that is nearly full", () => {
  test("nothing is downloaded, whether or not the server sends a length", async () => {
    using made = new TestLibrary();
    using _disk = shrink(made);
    let sent = 0;
    using server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: () => {
        const body = async function* () {
          sent += 1;
          yield OWN;
        };
        return sent === 0 ? new Response(OWN) : new Response(body());
      },
    });
    const options = { library: made.library, catalogue: [], inspect: () => {}, onProgress: () => {} };
    for (sent of [0, 1]) {
      const entry = officialEntry("whisper-x", OWN);
      await expect(pullModel(entry, { ...options, mirror: server.url.href })).rejects.toThrow(words);
      expect(made.files()).toEqual([]);
    }
  });

  test("nothing is imported, and no bundle is written", async () => {
    using made = new TestLibrary();
    using elsewhere = new TestLibrary();
    using _disk = shrink(made);
    const path = made.file("own.bin", OWN);
    await expect(made.import(path)).rejects.toThrow(words);
    const models = await elsewhere.import(path);
    await expect(bundleAt(models, join(made.dataDirectory, "bundle.tar"))).rejects.toThrow(words);
    const bundle = join(made.path, "bundle.tar");
    await bundleAt(models, bundle);
    await expect(made.import(bundle)).rejects.toThrow(words);
    expect(made.files()).toEqual([]);
  });
});
