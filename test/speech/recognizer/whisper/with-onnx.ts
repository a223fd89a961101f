import { InferenceSession, Tensor } from "onnxruntime-node";
import { programFiles } from "../../../../src/program/index.ts";
import { loadGgml } from "../../../../src/runtimes/index.ts";
import { openModel } from "../../../../src/speech/recognizer/whisper/index.ts";
import { basePath, nativeDirectory, readSamples } from "../../../support/whisper.ts";

/** A process that transcribes, computes with ONNX Runtime and transcribes again; prints what it read each time. */
const model = openModel(loadGgml({ nativeDirectory }), basePath, false);
const state = model.createState();
const samples = await readSamples("formats/jfk.flac");

async function read(): Promise<void> {
  const { segments } = await state.transcribe(samples, { language: "en", threads: 2, beamSize: 1 });
  console.log(segments.map((segment) => segment.text.trim()).join(" "));
}

await read();
const { embeddingModel } = await programFiles("");
const session = await InferenceSession.create(embeddingModel);
const { embedding } = await session.run({ waveform: new Tensor("float32", samples.slice(0, 25_600), [1, 25_600]) });
if (!(embedding?.data instanceof Float32Array)) throw new Error("the embedding model gives no floats");
console.log(`a voice of length ${Math.hypot(...embedding.data).toFixed(2)}`);
await read();
state.dispose();
model.dispose();
