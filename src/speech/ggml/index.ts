/** ggml in this process: the native addon, the CPU variants and GPU backends, and their devices. */
export { type GpuBackend, type GpuBackendKind, gpuBackends, isCpuLibrary, isGpuLibrary } from "./libraries.ts";
export { addonFile, type GgmlAddon, type GgmlRuntime, loadGgml, loadGpuBackend, rateCpuLibrary } from "./runtime.ts";
