// The part of scripts/sdk that needs Bun: generates the clients of the API and packs them.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { defaultCacheRoot } from "../../../native/build.ts";
import { root } from "../../shared/checkout.ts";
import { addChecksum } from "../../shared/checksums.ts";
import { defineCommand, runCommandLine } from "../../shared/command.ts";
import { flag } from "../../shared/options.ts";
import { generate, packPython, packTypescript } from "./packages.ts";

const command = defineCommand({
  name: "scripts/sdk",
  about: "Generates the clients of the API below sdk/, and packs them.",
  options: { onlyGenerate: flag("pack nothing") },
  async run({ onlyGenerate }) {
    await generate();
    if (onlyGenerate) return;
    const dist = join(root, "dist");
    await mkdir(dist, { recursive: true });
    for (const name of [await packTypescript(dist), await packPython(dist, defaultCacheRoot())]) {
      await addChecksum(dist, "sdk", name);
    }
  },
});
await runCommandLine(command, process.argv.slice(2));
