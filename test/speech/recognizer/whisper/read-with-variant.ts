import { loadGgml } from "../../../../src/speech/ggml.ts";
import { openModel } from "../../../../src/speech/recognizer/whisper/index.ts";
import { basePath, nativeDirectory, readSamples } from "./support.ts";

/** A process that transcribes with one CPU variant and prints the text for each beam size. */
const [cpuLibrary = ""] = process.argv.slice(2);
const model = openModel(loadGgml({ nativeDirectory, cpuLibrary, gpu: [] }), basePath, false);
const state = model.createState();
const samples = await readSamples("formats/jfk.flac");
const audioContext = Math.ceil(samples.length / 320) + 1;
for (const [beamSize, threads] of [
  [1, 1],
  [2, 1],
  [5, 1],
  [5, 2],
  [8, 2],
] as const) {
  const { segments } = await state.transcribe(samples, { language: "en", threads, beamSize, audioContext });
  console.log(segments.map((segment) => segment.text.trim()).join(" "));
}
state.dispose();
model.dispose();
