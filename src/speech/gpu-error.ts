import type { GpuFailure } from "../engine/index.ts";
import { messageOf } from "../text/index.ts";

/** What ggml's backends say where memory is short: Vulkan's and CUDA's words for it, and those of the allocator above both. */
const ofMemory =
  /out ?of ?(?:device|host)? ?memory|(?:failed|unable) to (?:re)?allocate|allocation .*failed|alloc.* failed/i;

/** Something that failed on the GPU, and may be done elsewhere. */
export class GpuError extends Error {
  override readonly name = "GpuError";
  readonly failure: GpuFailure;

  /** @param part what it was to compute: the models that tell speakers apart, or else whisper */
  constructor(cause: unknown, part?: "speakers") {
    const message = messageOf(cause);
    super(message, { cause });
    this.failure = { message, outOfMemory: ofMemory.test(message), ...(part === undefined ? {} : { part }) };
  }
}
