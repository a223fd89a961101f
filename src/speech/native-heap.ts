import { dlopen, FFIType } from "bun:ffi";

/** Number of mallopt(3) for the maximum number of heaps. */
const MAX_ARENAS = -8;

/**
 * Makes all threads of this process allocate native memory from one heap, so that memory which one thread has freed serves
 * the others: 40 of 640 MiB of a worker with two lanes. Must be called before native code starts threads. Does nothing on
 * systems other than Linux.
 */
export function shareHeap(): void {
  if (process.platform !== "linux") return;
  const libc = dlopen("libc.so.6", { mallopt: { args: [FFIType.i32, FFIType.i32], returns: FFIType.i32 } });
  libc.symbols.mallopt(MAX_ARENAS, 1);
}
