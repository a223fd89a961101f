// The part of scripts/build that needs Bun: packs the parts, compiles, and writes the checksum.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { defaultCacheRoot } from "../../../native/build.ts";
import { digestFile } from "../../../src/models/index.ts";
import { root } from "../checkout.ts";
import { deafBun } from "./bun-program.ts";
import { packPart } from "./pack.ts";
import { partSources } from "./parts.ts";
import { embedding, onnxBinding } from "./plugins.ts";

const cacheRoot = defaultCacheRoot();
const name = "transcribe-linux-x64";
const dist = join(root, "dist");
mkdirSync(dist, { recursive: true });
const parts = [];
for (const source of await partSources()) parts.push(await packPart(source, cacheRoot));
const outfile = join(dist, name);
await Bun.build({
  entrypoints: [join(root, "src/main.ts")],
  target: "bun",
  naming: { asset: "[name].[ext]" },
  format: "esm",
  // Halves the time to the first answer (200 → 95 ms), for 9 MB.
  bytecode: true,
  sourcemap: "inline",
  plugins: [embedding({ parts }), onnxBinding()],
  compile: {
    outfile,
    executablePath: await deafBun(process.execPath, cacheRoot),
    autoloadDotenv: false,
    autoloadBunfig: false,
    autoloadTsconfig: false,
    autoloadPackageJson: false,
  },
});
await Bun.write(join(dist, "SHA256SUMS"), `${await digestFile(outfile, "sha256")}  ${name}\n`);
