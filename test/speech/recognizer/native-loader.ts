import { join } from "node:path";
import { cpuLibraries } from "../../../src/runtimes/ggml.ts";
import type { ParakeetAddon } from "../../../src/speech/recognizer/parakeet/addon.ts";
import type { WhisperAddon } from "../../../src/speech/recognizer/whisper/addon.ts";
import { nativeDirectory } from "../../support/whisper.ts";

/**
 * A process that passes each file that a line of standard input names to a family's native loader, unchecked, and prints
 * the result. The argument is the family; Parakeet's files are also computed with.
 */
const [family] = process.argv.slice(2);
const module: { exports: Partial<ParakeetAddon & WhisperAddon> } = { exports: {} };
process.dlopen(module, join(nativeDirectory, "whisper.node"));
const addon = module.exports as ParakeetAddon & WhisperAddon;
addon.loadBackend(join(nativeDirectory, cpuLibraries(addon, nativeDirectory)[0]?.file ?? ""));

for await (const path of console) {
  // The rest when standard input is closed.
  if (path === "") continue;
  try {
    await (family === "parakeet" ? useParakeet(path) : loadWhisper(path));
    console.log("loaded");
  } catch {
    console.log("refused");
  }
}

function loadWhisper(path: string): void {
  const heads = { alignmentHeads: 1, alignmentLayers: 1 };
  new addon.Model(path, { useGpu: false, flashAttention: true, slots: 1, ...heads }).dispose();
}

async function useParakeet(path: string): Promise<void> {
  const model = new addon.ParakeetModel(path, { useGpu: false });
  const state = new addon.ParakeetState(model);
  await state.transcribe(
    new Float32Array(16_000).map((_, i) => Math.sin(i / 9)),
    1,
  );
  state.dispose();
  model.dispose();
}
