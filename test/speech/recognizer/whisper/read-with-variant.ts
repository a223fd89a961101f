import { loadGgml } from "../../../../src/runtimes/index.ts";
import { openModel } from "../../../../src/speech/recognizer/whisper/index.ts";
import { basePath, nativeDirectory, readSamples } from "../../../support/whisper.ts";

/**
 * A process that transcribes with one CPU variant. It prints the text of a sentence for each beam size, and then the texts
 * of the first windows of other recordings.
 */
const [cpuLibrary = "", ...recordings] = process.argv.slice(2);
const model = openModel(loadGgml({ nativeDirectory, cpuLibrary, gpu: [] }), basePath, false);
const state = model.createState();

async function printText(samples: Float32Array, beamSize: number, threads: number): Promise<void> {
  const audioContext = Math.min(1500, Math.ceil(samples.length / 320) + 1);
  const { segments } = await state.transcribe(samples, { language: "en", threads, beamSize, audioContext });
  console.log(segments.map((segment) => segment.text.trim()).join(" "));
}

const passes = [
  [1, 1],
  [2, 1],
  [5, 1],
  [5, 2],
  [8, 2],
] as const;
/** "Ask what you can do for your country." */
const sentence = (await readSamples("formats/jfk.flac")).subarray(8 * 16_000);
for (const [beamSize, threads] of passes) await printText(sentence, beamSize, threads);
for (const recording of recordings) await printText((await readSamples(recording)).subarray(0, 24 * 16_000), 5, 2);
state.dispose();
model.dispose();
