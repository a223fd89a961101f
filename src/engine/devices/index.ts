/** What this machine can really compute on, found out in processes that may crash. */
export { chooseCpuLibrary, leaveOutCpuLibrary, NoCpuLibraryError } from "./choose-cpu-library.ts";
export {
  describeEncoder,
  type EncoderChoiceOptions,
  type EncoderFinding,
  knownEncoder,
  tryEncoder,
} from "./choose-encoder.ts";
export { chooseCpuLibraryFor } from "./choose-for-models.ts";
export { type ChooseGpuOptions, chooseGpuLibrary } from "./choose-gpu-library.ts";
export type { CpuTestOptions } from "./cpu-self-test.ts";
export { isGpuWithinReach } from "./gpu-presence.ts";
export { type GpuTestOptions, type GpuTrial, tryGpuLibrary } from "./gpu-self-test.ts";
export { runSelfTest } from "./self-test.ts";
export { surveyCpuLibraries } from "./survey-cpu-libraries.ts";
export { listDevices, tryOnnx } from "./try-devices.ts";
export { areVerdicts } from "./verdicts.ts";
