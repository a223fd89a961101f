import { isCompiled } from "../program/index.ts";
import { GpuError } from "./gpu-error.ts";

/** Called with each operation that a worker is given, before it begins, and what that is done on. */
export type FaultPoint = (operation: string, params: unknown, device: string) => void;

/**
 * The fault point of tests, by `WORKER_TEST_FAULT=OPERATION:SAMPLES:SIGNAL`: given that operation on a recording of so many
 * samples, a worker sends itself the signal; where `GPU` stands in its place, one that does it on a GPU has that fail. It is there
 * from source alone; the program in one file has none.
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
