import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadGgml } from "../../../../src/runtimes/index.ts";
import type { ParakeetAddon } from "../../../../src/speech/recognizer/parakeet/addon.ts";
import { nativeDirectory } from "../../../support/whisper.ts";

/**
 * A process that recognizes each `*.f32` of a directory with one CPU variant, on one and two threads, and on a GPU if one
 * is named. Prints the tokens as JSON lines, and writes the encoder's output beside the samples.
 */
const [cpuLibrary = "", model = "", directory = "", gpu = ""] = process.argv.slice(2);
const runtime = loadGgml({ nativeDirectory, cpuLibrary, gpu: gpu === "" ? [] : [gpu] });
if (gpu !== "" && runtime.gpus().length === 0) throw new Error("there is no GPU");
const addon = runtime.addon as ParakeetAddon;
const native = new addon.ParakeetModel(model, { useGpu: gpu !== "" });
const state = new addon.ParakeetState(native);
for (const clip of readdirSync(directory)
  .filter((name) => name.endsWith(".f32"))
  .sort()) {
  const samples = new Float32Array(await Bun.file(join(directory, clip)).arrayBuffer());
  for (const threads of [1, 2]) {
    const { tokens } = await state.transcribe(samples, threads);
    const encoded = await state.encode(samples, threads);
    const output = join(directory, `${clip}.${cpuLibrary}${gpu}.${threads}`);
    writeFileSync(output, new Uint8Array(encoded.buffer));
    const steps = tokens.map(({ id, frame, duration }) => [id, frame, duration]);
    console.log(JSON.stringify({ clip, threads, steps, output }));
  }
}
state.dispose();
native.dispose();
