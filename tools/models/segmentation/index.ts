// Regenerates pyannote-segmentation.onnx of models/ byte for byte from the published model; needed only to change it.
// bun tools/models/segmentation/index.ts PUBLISHED-MODEL
import { join } from "node:path";
import { defaultCacheRoot } from "../../../native/build.ts";
import { root } from "../../shared/checkout.ts";
import { runGraphScript } from "../../shared/python.ts";
import { runCommand } from "../../shared/run-command.ts";

/** SHA-256 of the export in float32. */
const publishedDigest = "dc2bc49ca41f26ea1f1be92f95f4dc7dd9736ffc00494c2e4af1f95b973a2582";

const [published] = process.argv.slice(2);
if (published === undefined) throw new Error("usage: bun tools/models/segmentation/index.ts PUBLISHED-MODEL");
const digest = new Bun.CryptoHasher("sha256").update(await Bun.file(published).bytes()).digest("hex");
if (digest !== publishedDigest) throw new Error(`${published} is not the published model; its SHA-256 is ${digest}`);
const script = join(import.meta.dir, "main.py");
await runGraphScript(defaultCacheRoot(), script, [published, join(root, "models/pyannote-segmentation.onnx")]);
console.log((await runCommand(["git", "-C", root, "status", "--short", "models"])) || "models/ is unchanged");
