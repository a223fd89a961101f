// The part of scripts/build that needs Bun: packs the parts, compiles, and writes the checksum.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { defaultCacheRoot } from "../../../native/build.ts";
import { checkoutNotices, describeCheckout, digestFile } from "../../../src/program/index.ts";
import { root } from "../checkout.ts";
import { deafBun } from "./bun-program.ts";
import { compile } from "./compile.ts";
import { packPart } from "./pack.ts";
import { partSources } from "./parts.ts";
import { targetOf } from "./target.ts";
import { requireNotices, writeNotices } from "./write-notices.ts";

try {
  await build(targetOf(process.argv.slice(2)));
} catch (error) {
  console.error(`build: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
}

async function build(target: string): Promise<void> {
  const cacheRoot = defaultCacheRoot();
  const dist = join(root, "dist");
  mkdirSync(dist, { recursive: true });

  const made = await describeCheckout();
  const name = `transcribe-${target}`;
  const outfile = join(dist, name);
  console.log(`build: ${name} ${made.version}, commit ${made.commit}`);

  const parts = [];
  for (const source of await partSources(cacheRoot)) parts.push(await packPart(source, cacheRoot));
  const notices = await checkoutNotices();
  await compile({
    embedded: { build: made, parts, notices: await writeNotices(notices, cacheRoot) },
    bun: await deafBun(process.execPath, cacheRoot),
    outfile,
    check: (inputs) => requireNotices(inputs, notices),
  });

  const sha256 = await digestFile(outfile, "sha256");
  await Bun.write(join(dist, "SHA256SUMS"), `${sha256}  ${name}\n`);
  console.log(`build: dist/${name}, ${(Bun.file(outfile).size / 1e6).toFixed(0)} MB, SHA-256 ${sha256}`);
}
