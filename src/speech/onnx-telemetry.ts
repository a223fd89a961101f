import { dlopen, FFIType } from "bun:ffi";

/**
 * Disables ONNX Runtime's telemetry. Since 1.30 its Linux packages report to their makers and store a machine id in the
 * user's cache directory. They do not if this variable is set before the library starts. The variable has to be set
 * with libc, where the library reads it; `process.env` is a copy. Must be called before a process opens its first
 * session.
 */
export function silenceOnnxTelemetry(): void {
  if (process.platform !== "linux") return;
  const { cstring, i32 } = FFIType;
  const libc = dlopen("libc.so.6", { setenv: { args: [cstring, cstring, i32], returns: i32 } });
  const overwrite = 1;
  libc.symbols.setenv(Buffer.from("ORT_DISABLE_TELEMETRY\0"), Buffer.from("1\0"), overwrite);
}
