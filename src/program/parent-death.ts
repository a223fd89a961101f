import { dlopen, FFIType } from "bun:ffi";

/**
 * Makes the kernel kill this process when its parent exits for any reason. Does nothing on systems other than Linux.
 */
export function dieWithParent(): void {
  if (process.platform !== "linux") return;
  const setParentDeathSignal = 1;
  const killSignal = 9;
  const libc = dlopen("libc.so.6", { prctl: { args: [FFIType.i32, FFIType.u64], returns: FFIType.i32 } });
  libc.symbols.prctl(setParentDeathSignal, killSignal);
}
