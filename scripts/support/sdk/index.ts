// The part of scripts/sdk that needs Bun: generates the clients of the API and packs them.
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { defaultCacheRoot } from "../../../native/build.ts";
import { digestFile } from "../../../src/program/index.ts";
import { renewChecksums } from "../build/compile.ts";
import { root } from "../checkout.ts";
import { generate } from "./generate.ts";
import { packPython, packTypescript } from "./pack.ts";

await generate();
if (!process.argv.includes("--only-generate")) {
  const dist = join(root, "dist");
  await mkdir(dist, { recursive: true });
  for (const name of [await packTypescript(dist), await packPython(dist, defaultCacheRoot())]) {
    const sha256 = await digestFile(join(dist, name), "sha256");
    const sums = join(dist, "SHA256SUMS");
    const known = existsSync(sums) ? await Bun.file(sums).text() : "";
    await Bun.write(
      sums,
      renewChecksums(known, { name, sha256 }, (file) => existsSync(join(dist, file))),
    );
    console.log(`sdk: dist/${name}, SHA-256 ${sha256}`);
  }
}
