import { ParkingError } from "../recordings/index.ts";

/** The signal of one operation, which outlives its recording's by the grace time when the recording is parked. */
export interface OperationSignal extends Disposable {
  readonly signal: AbortSignal;
  /** The worker has begun with it; before, there is nothing to be lost. */
  begun(): void;
}

/** @param recordingSignal aborted when the recording is to be left */
export function operationSignal(recordingSignal: AbortSignal): OperationSignal {
  const controller = new AbortController();
  let hasBegun = false;
  let timer: NodeJS.Timeout | null = null;
  let hurry: AbortSignal | null = null;
  const end = () => controller.abort(recordingSignal.reason);
  const abort = () => {
    const reason: unknown = recordingSignal.reason;
    if (!hasBegun || !(reason instanceof ParkingError) || reason.graceMilliseconds === 0) return end();
    timer = setTimeout(end, reason.graceMilliseconds);
    hurry = reason.hurry;
    if (hurry.aborted) end();
    else hurry.addEventListener("abort", end, { once: true });
  };
  recordingSignal.addEventListener("abort", abort, { once: true });
  return {
    signal: controller.signal,
    begun() {
      hasBegun = true;
    },
    [Symbol.dispose]() {
      recordingSignal.removeEventListener("abort", abort);
      hurry?.removeEventListener("abort", end);
      if (timer !== null) clearTimeout(timer);
    },
  };
}
