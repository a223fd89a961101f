import type { GpuFailure } from "../operations/index.ts";
import { messageOf } from "../text/index.ts";

/** Messages of ggml's backends when memory is short: those of Vulkan, CUDA and the allocator above both. */
const ofMemory =
  /out ?of ?(?:device|host)? ?memory|(?:failed|unable) to (?:re)?allocate|allocation .*failed|alloc.* failed/i;

/** An error of the GPU; the operation may succeed on another device. */
export class GpuError extends Error {
  override readonly name = "GpuError";
  readonly failure: GpuFailure;

  constructor(cause: unknown) {
    const message = messageOf(cause);
    super(message, { cause });
    this.failure = { message, outOfMemory: ofMemory.test(message) };
  }
}
