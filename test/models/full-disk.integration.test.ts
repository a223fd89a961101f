import { afterAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { importModels, ModelLibrary, pullModel } from "../../src/models/index.ts";
import { bundleAt, officialEntry, TestLibrary } from "./support.ts";

const CONTENT = new Uint8Array(100_000);
const place = new TestLibrary();
const small = join(place.path, "small");

/** Mounts a file system of 8 MiB, less than the space that must stay free for a server. Only root can mount it. */
function mountSmall(): boolean {
  Bun.spawnSync(["mkdir", small]);
  const mounted = Bun.spawnSync(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", small]).exitCode === 0;
  if (!mounted) console.warn("SKIPPED: models on a full disk; mounting a small one needs root");
  return mounted;
}

const mounted = mountSmall();
afterAll(() => {
  if (mounted) Bun.spawnSync(["umount", small]);
  place[Symbol.dispose]();
});

describe.if(mounted)("on a disk that is nearly full", () => {
  const library = new ModelLibrary(join(small, "models"));
  const left = () =>
    [...new Bun.Glob("**").scanSync({ cwd: small })].filter((name) => !/\.lock(-journal)?$/.test(name));
  const common = { library, catalogue: [], inspect: () => {}, onProgress: () => {} };
  const words = /not enough disk space: 1 MiB are needed and 256 MiB must stay free, but only [0-9] MiB are free/;

  test("nothing is downloaded, whether or not the server sends a length", async () => {
    let sent = 0;
    using server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: () => {
        const body = async function* () {
          sent += 1;
          yield CONTENT;
        };
        return sent === 0 ? new Response(CONTENT) : new Response(body());
      },
    });
    for (sent of [0, 1]) {
      const entry = officialEntry("whisper-x", CONTENT);
      await expect(pullModel(entry, { ...common, mirror: server.url.href })).rejects.toThrow(words);
      expect(left()).toEqual([]);
    }
  });

  test("nothing is imported, and no bundle is written", async () => {
    const options = { ...common, name: undefined };
    await expect(importModels(place.file("own.bin", CONTENT), options)).rejects.toThrow(words);
    const [model] = await importModels(place.file("own.bin", CONTENT), { ...options, library: place.library });
    if (model === undefined) throw new Error("it was not imported");
    await expect(bundleAt([model], join(small, "bundle.tar"))).rejects.toThrow(words);
    const bundle = join(place.path, "bundle.tar");
    await bundleAt([model], bundle);
    await expect(importModels(bundle, options)).rejects.toThrow(words);
    expect(left()).toEqual([]);
  });
});
