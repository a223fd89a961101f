import { join } from "node:path";
import { cpuLibraries } from "../../../../src/speech/ggml.ts";
import type { WhisperAddon } from "../../../../src/speech/recognizer/whisper/addon.ts";
import { nativeDirectory } from "./support.ts";

/** A process that hands each file which a line of standard input names to the native loader, unchecked, and writes what came of it. */
const module: { exports: Partial<WhisperAddon> } = { exports: {} };
process.dlopen(module, join(nativeDirectory, "whisper.node"));
const addon = module.exports as WhisperAddon;
addon.loadBackend(join(nativeDirectory, cpuLibraries(addon, nativeDirectory)[0]?.file ?? ""));

for await (const path of console) {
  // The rest when standard input is closed.
  if (path === "") continue;
  try {
    const heads = { alignmentHeads: 1, alignmentLayers: 1 };
    new addon.Model(path, { useGpu: false, flashAttention: true, ...heads }).dispose();
    console.log("loaded");
  } catch {
    console.log("refused");
  }
}
