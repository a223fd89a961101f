/** Selection of the devices that really work on this machine, by self-tests in processes that may crash. */

export { chooseCpuLibrary, leaveOutCpuLibrary, NoCpuLibraryError } from "./choose-cpu-library.ts";
export { chooseCpuLibraryFor } from "./choose-cpu-library-for.ts";
export { describeEncoder, type EncoderChoiceOptions, knownEncoder, tryEncoder } from "./choose-encoder.ts";
export { type ChooseGpusOptions, chooseGpus } from "./choose-gpus.ts";
export { type ChooseSpeakerGpuOptions, chooseSpeakerGpu } from "./choose-speaker-gpu.ts";
export type { CpuTestOptions } from "./cpu-self-test.ts";
export { encoderDirectoryOf } from "./encoders.ts";
export { isGpuWithinReach } from "./gpu-presence.ts";
export { GpuTester, type GpuTestOptions } from "./gpu-self-test.ts";
export type { GpuTrial } from "./gpu-trial.ts";
export { listGpus } from "./list-gpus.ts";
export { runSelfTest } from "./self-test.ts";
export { trySpeakerGpu } from "./speakers-self-test.ts";
export { SpeechEngine, type SpeechEngineOptions } from "./speech-engine.ts";
export { surveyCpuLibraries } from "./survey-cpu-libraries.ts";
export { tryOnnx } from "./try-onnx.ts";
export { areVerdicts, type FoundGpu } from "./verdicts.ts";
