import { isCompiled } from "../program/index.ts";
import { GpuError } from "./gpu-error.ts";

/** Called before each operation of a worker begins. @param device what the operation is done on */
export type FaultPoint = (operation: string, params: unknown, device: string) => void;

/**
 * A fault that tests ask for by `WORKER_TEST_FAULT=OPERATION:SAMPLES:SIGNAL`: a worker that is given this operation on a recording
 * of so many samples sends itself the signal. With `GPU` in place of the signal, the GPU fails where the operation is done on one.
 * Only a program that runs from source has it, not the one in a single file.
 */
export function testFault(environment: Readonly<Record<string, string | undefined>>): FaultPoint {
  const [operation, samples, signal] = environment.WORKER_TEST_FAULT?.split(":") ?? [];
  if (isCompiled || operation === undefined) return () => {};
  return (given, params, device) => {
    if (given !== operation || !JSON.stringify(params).includes(`"sampleCount":${samples}}`)) return;
    if (signal !== "GPU") process.kill(process.pid, signal as NodeJS.Signals);
    else if (device !== "cpu") {
      throw new GpuError(
        new Error("the device was lost, as a test says"),
        device === "webgpu" ? "speakers" : undefined,
      );
    }
  };
}
