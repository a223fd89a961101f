import { dlopen, FFIType } from "bun:ffi";
import { dirname, join } from "node:path";

/**
 * Disables ONNX Runtime's telemetry before a process opens its first session. Since 1.30 its Linux packages report to
 * their makers and store a machine id in the user's cache directory. The variable has to be set with libc, where the
 * library reads it; `process.env` is a copy.
 */
export function silenceOnnxTelemetry(): void {
  if (process.platform !== "linux") return;
  const { cstring, i32 } = FFIType;
  const libc = dlopen("libc.so.6", { setenv: { args: [cstring, cstring, i32], returns: i32 } });
  const overwrite = 1;
  libc.symbols.setenv(Buffer.from("ORT_DISABLE_TELEMETRY\0"), Buffer.from("1\0"), overwrite);
}

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
