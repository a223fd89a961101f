import { programFiles } from "../../../src/program/index.ts";
import { readSample } from "../../../src/speech/devices/recognizer-self-test.ts";
import { openDiarizationModels, segment } from "../../../src/speech/diarization/index.ts";
import { WINDOW_SAMPLES } from "../../../src/timeline/index.ts";

/** A process that runs the segmentation model on the first window of a sample, and prints the speakers' activity. */
const [gpuProvider = "", pcmPath = ""] = process.argv.slice(2);
if (gpuProvider !== "webgpu" && gpuProvider !== "cpu") throw new Error(`there is no provider ${gpuProvider}`);
const files = await programFiles("");
const models = await openDiarizationModels({ ...files, threads: 2, onGpu: ["segmentation"], gpuProvider });
console.log(JSON.stringify([...(await segment(models, await readSample(pcmPath, WINDOW_SAMPLES)))]));
await models.dispose();
