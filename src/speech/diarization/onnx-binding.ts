import { dirname, join } from "node:path";

/** ONNX Runtime's library, which lies beside its addon and is loaded with it. */
export function onnxLibraryOf(binding: string): string {
  return join(dirname(binding), "libonnxruntime.so.1");
}

let path = "";

/** Says which file `loadOnnxBinding` loads. */
export function setOnnxBinding(binding: string): void {
  path = binding;
}

/**
 * Loads ONNX Runtime's addon into this process. The package requires it by a path beside its own code, where a compiled
 * program has no files: scripts/build puts a call of this in that place.
 */
export function loadOnnxBinding(): unknown {
  const module = { exports: {} };
  process.dlopen(module, path);
  return module.exports;
}
