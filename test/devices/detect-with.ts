import { loadGgml } from "../../src/runtimes/index.ts";
import { familyOf } from "../../src/speech/index.ts";
import { nativeDirectory } from "../support/whisper.ts";

/** A process that detects the language of a tone with a model, and prints the probabilities. Uses a GPU if one is named. */
const [cpuLibrary = "", modelPath = "", gpu = ""] = process.argv.slice(2);
const runtime = loadGgml({ nativeDirectory, cpuLibrary, gpu: gpu === "" ? [] : [gpu] });
if (gpu !== "" && runtime.gpus().length === 0) throw new Error("there is no GPU");
const model = familyOf(modelPath).open(runtime, modelPath, gpu !== "");
const recognizer = model.createRecognizer();
const tone = Float32Array.from({ length: 16_000 }, (_, at) => 0.3 * Math.sin(at / 10));
console.log(JSON.stringify(await recognizer.detectLanguage(tone, 2)));
recognizer.dispose();
model.dispose();
