/** Whisper's encoder as an ONNX model, built from a ggml file. */
export { compareEncoders } from "./compare-encoders.ts";
export type { EncoderForm } from "./encoder-graph.ts";
export { encoderPath, isSoundEncoder, makeEncoder, noteEncoderUse } from "./make-encoder.ts";
