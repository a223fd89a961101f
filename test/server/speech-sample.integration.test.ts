import { describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { available, ffmpegPath } from "../../harness/checkout.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { programFiles } from "../../src/program/index.ts";
import { withSpeechSample } from "../../src/server/index.ts";
import { DataDirectory } from "../../src/storage/index.ts";

describe.skipIf(!available("the sample of self-tests", ffmpegPath))("the sample of self-tests", () => {
  test("is in the given place only while it is used", async () => {
    using parent = temporaryDirectory();
    const files = await programFiles("");
    const path = await withSpeechSample(files, async (each) => each, parent.path);
    expect(path.startsWith(join(parent.path, "transcribe-sample-"))).toBe(true);
    expect(readdirSync(parent.path)).toEqual([]);
  });

  test("that a killed server left behind is removed at the next start", async () => {
    using root = temporaryDirectory();
    const directory = new DataDirectory(root.path);
    const script = `
      const { programFiles } = await import("${join(import.meta.dir, "../../src/program/index.ts")}");
      const { withSpeechSample } = await import("${join(import.meta.dir, "../../src/server/index.ts")}");
      const use = async () => { console.log("in use"); await new Promise(() => setInterval(() => {}, 1000)); };
      await withSpeechSample(await programFiles(""), use, process.argv.at(-1));`;
    const child = Bun.spawn([process.execPath, "-e", script, directory.incoming], {
      stdout: "pipe",
      stderr: "inherit",
    });
    for await (const _ of child.stdout) break;
    child.kill("SIGKILL");
    await child.exited;
    expect(readdirSync(directory.incoming)).toHaveLength(1);
    directory.cleanUp(() => new Map());
    expect(readdirSync(directory.incoming)).toEqual([]);
  }, 60_000);
});
