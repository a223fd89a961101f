import { SuspendError } from "../recordings/index.ts";

/** The abort signal of one operation. When the recording is suspended, it is aborted only after the grace time. */
export interface OperationSignal extends Disposable {
  readonly signal: AbortSignal;
  /** Notifies that the worker has started the operation; before that, no work can be lost. */
  begun(): void;
}

/**
 * Creates the signal of an operation.
 * @param recordingSignal aborted when work on the recording is to stop
 */
export function operationSignal(recordingSignal: AbortSignal): OperationSignal {
  const controller = new AbortController();
  let hasBegun = false;
  let timer: NodeJS.Timeout | null = null;
  let hurry: AbortSignal | null = null;
  const end = () => controller.abort(recordingSignal.reason);
  const abort = () => {
    const reason: unknown = recordingSignal.reason;
    if (!hasBegun || !(reason instanceof SuspendError) || reason.graceMilliseconds === 0) return end();
    timer = setTimeout(end, reason.graceMilliseconds);
    hurry = reason.graceEnded;
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
