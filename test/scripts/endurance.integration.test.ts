import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { available, ffmpegPath, mediaToolPath, root } from "../../harness/checkout.ts";
import { inFolder, namesIn } from "../../harness/media.ts";
import { canSeeProcesses, childrenOf, isAlive } from "../../harness/processes.ts";

setDefaultTimeout(60_000);

const ready = available("tests of scripts/endurance", ffmpegPath, mediaToolPath) && canSeeProcesses;

describe.if(ready)("scripts/endurance, interrupted by", () => {
  test.each([
    ["SIGTERM", 143, "nothing on disk"],
    ["SIGINT", 130, "nothing on disk"],
    ["SIGKILL", 137, "the files that it could not remove"],
  ] as const)(
    "%s ends with %d, leaves no server and %s",
    async (signal, status, left) => {
      await inFolder(async (folder) => {
        const script = [process.execPath, "--no-env-file", join(root, "tools/endurance/index.ts"), "stuck"];
        const child = Bun.spawn(script, {
          env: { ...process.env, TMPDIR: folder },
          stdio: ["ignore", "ignore", "inherit"],
        });
        let servers: number[] = [];
        try {
          // The server's state file exists as soon as the server listens.
          while (servers.length === 0 || [...new Bun.Glob("*/state/server.json").scanSync(folder)].length === 0) {
            expect(child.exitCode).toBe(null);
            servers = childrenOf(child.pid, "serve");
            await Bun.sleep(20);
          }
        } finally {
          child.kill(signal);
        }
        expect(await child.exited).toBe(status);
        while (servers.some(isAlive)) await Bun.sleep(20);
        if (left === "nothing on disk") expect(await namesIn(folder)).toEqual([]);
      });
    },
    120_000,
  );
});
