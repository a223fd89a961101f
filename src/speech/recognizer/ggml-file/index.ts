/** Model files in ggml's own form: bounded reading of numbers and of the tensor table, for all families. */
export { explaining, FileReader, ModelFileError, requireOneOf, requireWithin } from "./file-reader.ts";
export { formOf, hasHeader, readNumbers } from "./header.ts";
export { FLOAT16, FLOAT32, tensorTypes } from "./tensor-types.ts";
export { bounded, type ExpectedTensor, readTensors, requireTensors, type StoredTensor } from "./tensors.ts";
