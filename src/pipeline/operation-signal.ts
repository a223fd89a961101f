import { ParkingError } from "./parking-error.ts";

/** The signal of one operation, which goes on a little where its recording is only parked. */
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
  const abort = () => {
    const reason: unknown = recordingSignal.reason;
    const grace = hasBegun && reason instanceof ParkingError ? reason.graceMilliseconds : 0;
    if (grace === 0) controller.abort(reason);
    else timer = setTimeout(() => controller.abort(reason), grace);
  };
  recordingSignal.addEventListener("abort", abort, { once: true });
  return {
    signal: controller.signal,
    begun() {
      hasBegun = true;
    },
    [Symbol.dispose]() {
      recordingSignal.removeEventListener("abort", abort);
      if (timer !== null) clearTimeout(timer);
    },
  };
}
