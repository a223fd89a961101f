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
