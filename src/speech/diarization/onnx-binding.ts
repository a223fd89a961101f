import { dirname, join } from "node:path";

/** Returns the path of ONNX Runtime's library, which lies next to the addon and is loaded with it. */
export function onnxLibraryOf(binding: string): string {
  return join(dirname(binding), "libonnxruntime.so.1");
}

let path = "";

/** Sets the file that `loadOnnxBinding` loads. */
export function setOnnxBinding(binding: string): void {
  path = binding;
}

/**
 * Loads ONNX Runtime's addon into this process. The package requires the addon by a path relative to its own code. A
 * compiled program has no files there, so scripts/build replaces that call with a call of this function.
 */
export function loadOnnxBinding(): unknown {
  const module = { exports: {} };
  process.dlopen(module, path);
  return module.exports;
}
