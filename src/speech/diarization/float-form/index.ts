/** Conversion of quantised ONNX models to floats, for execution providers without quantised operators. */
export { inFloats } from "./in-floats.ts";
