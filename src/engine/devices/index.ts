/** What this machine can really compute on, found out in processes that may crash. */
export { chooseCpuLibrary, leaveOutCpuLibrary, NoCpuLibraryError } from "./choose-cpu-library.ts";
export { chooseCpuLibraryFor } from "./choose-for-models.ts";
export { chooseGpuLibraries } from "./choose-gpu-libraries.ts";
export type { CpuTestOptions } from "./cpu-self-test.ts";
export { runSelfTest } from "./self-test.ts";
export { surveyCpuLibraries } from "./survey-cpu-libraries.ts";
export { listDevices, tryGpuLibrary, tryOnnx } from "./try-devices.ts";
export { areVerdicts } from "./verdicts.ts";
