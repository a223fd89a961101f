export {
  addonFile,
  computeDeviceSchema,
  type GgmlAddon,
  type GgmlRuntime,
  type GpuBackend,
  type GpuBackendKind,
  gpuBackends,
  isCpuLibrary,
  isGpuLibrary,
  loadGgml,
  rateCpuLibrary,
  unusableBackendSchema,
} from "./ggml.ts";
export { type Instructions, instructionsOfCpu, instructionsSchema, isAtLeast } from "./instructions.ts";
export { onnxLibraryOf, setOnnxBinding, silenceOnnxTelemetry } from "./onnx-runtime.ts";
