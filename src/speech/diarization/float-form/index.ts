/** The float form of ONNX models that compute in bytes, for providers that have no such operators. */
export { inFloats } from "./in-floats.ts";
