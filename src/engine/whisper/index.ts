/** whisper.cpp through the native addon: load it, open a model, transcribe with a state. */
export type { CpuLibrary } from "./libraries.ts";
export { type LoadWhisperOptions, listCpuLibraries, loadWhisper } from "./runtime.ts";
export type * from "./types.ts";
