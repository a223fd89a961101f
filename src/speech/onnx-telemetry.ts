import { dlopen, FFIType } from "bun:ffi";

/**
 * Keeps ONNX Runtime from reporting to its makers: since 1.30 the packages for Linux do, and note an id of the machine in the
 * user's cache directory, unless this variable is set before their library begins. It has to be set with libc, which is
 * where the library looks; `process.env` is a copy. Whoever opens the first session of a process calls this before.
 */
export function silenceOnnxTelemetry(): void {
  if (process.platform !== "linux") return;
  const { cstring, i32 } = FFIType;
  const libc = dlopen("libc.so.6", { setenv: { args: [cstring, cstring, i32], returns: i32 } });
  const overwrite = 1;
  libc.symbols.setenv(Buffer.from("ORT_DISABLE_TELEMETRY\0"), Buffer.from("1\0"), overwrite);
}
