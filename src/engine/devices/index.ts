/** Which of the CPU backend's variants this machine can really run, found out in processes that may crash. */
export {
  type ChooseCpuLibraryOptions,
  type CpuChoice,
  chooseCpuLibrary,
  leaveOutCpuLibrary,
} from "./choose-cpu-library.ts";
export { runSelfTest } from "./self-test.ts";
