import { dlopen, FFIType } from "bun:ffi";

/** Has the kernel end this process when its parent ends, however that happens; on systems other than Linux it does nothing. */
export function dieWithParent(): void {
  if (process.platform !== "linux") return;
  const setParentDeathSignal = 1;
  const killSignal = 9;
  const libc = dlopen("libc.so.6", { prctl: { args: [FFIType.i32, FFIType.u64], returns: FFIType.i32 } });
  libc.symbols.prctl(setParentDeathSignal, killSignal);
}
