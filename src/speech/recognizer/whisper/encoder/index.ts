/** Whisper's encoder as an ONNX model, made of a ggml file. */
export type { EncoderForm } from "./encoder-graph.ts";
export { encoderPath, isSoundEncoder, makeEncoder, noteEncoderUse } from "./make-encoder.ts";
