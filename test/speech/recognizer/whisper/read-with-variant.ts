import { loadGgml } from "../../../../src/speech/ggml.ts";
import { openModel } from "../../../../src/speech/recognizer/whisper/index.ts";
import { basePath, nativeDirectory, readSamples } from "./support.ts";

/**
 * A process that transcribes with one CPU variant. It prints the text of a short recording for each beam size, or the text
 * of the window of another recording.
 */
const [cpuLibrary = "", recording] = process.argv.slice(2);
const model = openModel(loadGgml({ nativeDirectory, cpuLibrary, gpu: [] }), basePath, false);
const state = model.createState();
const samples = (await readSamples(recording ?? "formats/jfk.flac")).subarray(0, 30 * 16_000);
const audioContext = Math.min(1500, Math.ceil(samples.length / 320) + 1);
const passes = [
  [1, 1],
  [2, 1],
  [5, 1],
  [5, 2],
  [8, 2],
] as const;
for (const [beamSize, threads] of recording === undefined ? passes : [[5, 2] as const]) {
  const { segments } = await state.transcribe(samples, { language: "en", threads, beamSize, audioContext });
  console.log(segments.map((segment) => segment.text.trim()).join(" "));
}
state.dispose();
model.dispose();
