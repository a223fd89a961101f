// The part of scripts/build that needs Bun: packs the parts, compiles, and writes the checksum.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { defaultCacheRoot } from "../../../native/build.ts";
import { digestFile } from "../../../src/models/index.ts";
import { checkoutNotices, describeCheckout } from "../../../src/program/index.ts";
import { root } from "../checkout.ts";
import { deafBun } from "./bun-program.ts";
import { compile } from "./compile.ts";
import { packPart } from "./pack.ts";
import { partSources } from "./parts.ts";
import { requireNotices, writeNotices } from "./write-notices.ts";

const cacheRoot = defaultCacheRoot();
const dist = join(root, "dist");
mkdirSync(dist, { recursive: true });

const build = await describeCheckout();
const name = `transcribe-${build.target}`;
const outfile = join(dist, name);
console.log(`build: ${name} ${build.version}, commit ${build.commit}`);

const parts = [];
for (const source of await partSources(cacheRoot)) parts.push(await packPart(source, cacheRoot));
const notices = await checkoutNotices();
const inputs = await compile({
  embedded: { build, parts, notices: await writeNotices(notices, cacheRoot) },
  bun: await deafBun(process.execPath, cacheRoot),
  outfile,
});
requireNotices(inputs, notices);

const sha256 = await digestFile(outfile, "sha256");
await Bun.write(join(dist, "SHA256SUMS"), `${sha256}  ${name}\n`);
console.log(`build: dist/${name}, ${(Bun.file(outfile).size / 1e6).toFixed(0)} MB, SHA-256 ${sha256}`);
