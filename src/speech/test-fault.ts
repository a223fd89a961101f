import { isCompiled } from "../program/index.ts";
import { GpuError } from "./gpu-error.ts";

/** A function that is called before each operation of a worker. @param device the recognizer's device */
export type FaultPoint = (operation: string, params: unknown, device: string) => void;

/**
 * Returns a fault for tests, given by `WORKER_TEST_FAULT=OPERATION:SAMPLES:SIGNAL`: on this operation, for a recording
 * of SAMPLES samples, the worker sends itself the signal, or with `GPU` fails with a GPU error if its recognizer uses a GPU.
 * Only a program that runs from source has the fault.
 */
export function testFault(environment: Readonly<Record<string, string | undefined>>): FaultPoint {
  const [operation, samples, signal] = environment.WORKER_TEST_FAULT?.split(":") ?? [];
  if (isCompiled || operation === undefined) return () => {};
  return (given, params, device) => {
    if (given !== operation || !JSON.stringify(params).includes(`"sampleCount":${samples}}`)) return;
    if (signal !== "GPU") process.kill(process.pid, signal as NodeJS.Signals);
    else if (device !== "cpu") throw new GpuError(new Error("the device was lost, as a test demands"));
  };
}
