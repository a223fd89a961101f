import { dlopen, FFIType } from "bun:ffi";
import { writeFileSync } from "node:fs";
import { Value } from "@sinclair/typebox/value";
import {
  type FromWorker,
  type OperationName,
  operations,
  toWorkerSchema,
  type WorkerStart,
} from "../operations/index.ts";
import { dieWithParent, isCompiled, yieldProcessor } from "../program/index.ts";
import { codeOf, messageOf } from "../text/index.ts";
import { GpuError } from "./gpu-error.ts";
import { openWorkbench, type Workbench } from "./workbench.ts";

/**
 * Runs the worker: processes messages until the server exits. An error of an operation is sent back. A crash in native
 * code ends this process, and the server starts another.
 */
export function runWorker(): void {
  // A worker without a server is useless. The closed channel is noticed at once; the kernel's signal also reaches a
  // worker whose event loop is blocked by a computation.
  process.on("disconnect", () => process.exit(0));
  dieWithParent();
  dieBeforeParent();
  yieldProcessor();
  // A terminal and some service managers signal the whole process group. The worker ignores it: the server kills the
  // worker once the running work is stored.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
  const faultPoint = testFault(process.env);
  let workbench: Workbench | null = null;
  let reportStatus = () => {};
  const releaseMemory = memoryReleaser();
  const running = new Map<number, AbortController>();

  const start = async (message: WorkerStart) => {
    try {
      workbench = await openWorkbench(message);
      const { cpuVariant, devices, speechDevice } = workbench;
      send({ type: "ready", cpuVariant, devices, speechDevice });
      reportStatus = statusReport(workbench);
    } catch (error) {
      if (error instanceof GpuError) return send({ type: "gpuFailed", failure: error.failure });
      send({ type: "unusable", message: messageOf(error) });
      process.exit(1);
    }
  };

  const run = async (id: number, operation: OperationName, params: unknown) => {
    const controller = new AbortController();
    running.set(id, controller);
    try {
      if (workbench === null) throw new Error("an operation arrived before the models were loaded");
      if (!Value.Check(operations[operation].params, params)) throw new Error(`bad parameters of ${operation}`);
      faultPoint(operation, params, workbench.speechDevice);
      const result = await workbench.run(operation, params, controller.signal);
      reportStatus();
      send({ type: "done", id, result });
      releaseMemory();
    } catch (error) {
      // The server kills this process and retries the operation elsewhere.
      if (error instanceof GpuError) return send({ type: "gpuFailed", failure: error.failure });
      const code = codeOf(error);
      send({ type: "failed", id, message: messageOf(error), ...(code === "" ? {} : { code }) });
    } finally {
      running.delete(id);
    }
  };

  process.on("message", (message: unknown) => {
    if (!Value.Check(toWorkerSchema, message)) throw new Error("the server sent an unknown message");
    if (message.type === "start") void start(message);
    else if (message.type === "run") void run(message.id, message.operation, message.params);
    else if (message.type === "cancel") running.get(message.id)?.abort();
    else workbench?.keepModels(message.paths);
  });
}

/** Interval of the reports. GPUs are shared with other programs, so the free memory changes by itself. */
const reportMilliseconds = 15_000;
/** Minimum time between two reports of a busy worker. */
const busyReportMilliseconds = 1000;

/**
 * Reports the GPU's memory and the work of the decoder in slots, now and at intervals.
 * @returns a function that reports them after an operation
 */
function statusReport(workbench: Workbench): () => void {
  if (workbench.speechDevice === "cpu") return () => {};
  let reportedAt = 0;
  const report = () => {
    reportedAt = performance.now();
    const memory = workbench.gpuMemory();
    if (memory !== null) send({ type: "gpuMemory", memory });
    const work = workbench.decoderWork();
    if (work !== null) send({ type: "decoderWork", work });
  };
  report();
  setInterval(report, reportMilliseconds);
  return () => {
    if (performance.now() - reportedAt >= busyReportMilliseconds) report();
  };
}

function send(message: FromWorker): void {
  process.send?.(message);
}

/**
 * Makes the kernel kill this process before the server when memory is short (proc(5), oom_score_adj). A killed worker
 * only costs the chunk in progress. When the score cannot be set, the memory sizes of the processes decide.
 */
function dieBeforeParent(): void {
  try {
    writeFileSync("/proc/self/oom_score_adj", "500");
  } catch {}
}

/** Minimum time between two releases of freed memory. Each takes some ten milliseconds. */
const trimMilliseconds = 10_000;

/**
 * Returns a function to be called after each operation. From time to time it releases memory that native code has freed
 * to the system, because the heap would otherwise grow with the length of a recording. Does nothing on systems other
 * than Linux.
 */
function memoryReleaser(): () => void {
  if (process.platform !== "linux") return () => {};
  const { symbols } = dlopen("libc.so.6", { malloc_trim: { args: [FFIType.u64], returns: FFIType.i32 } });
  let releasedAt = performance.now();
  return () => {
    if (performance.now() - releasedAt < trimMilliseconds) return;
    symbols.malloc_trim(0);
    releasedAt = performance.now();
  };
}

/** A function that is called before each operation of a worker. @param device the recognizer's device */
type FaultPoint = (operation: string, params: unknown, device: string) => void;

/**
 * Returns a fault for tests, given by `WORKER_TEST_FAULT=OPERATION:SAMPLES:SIGNAL`: on this operation, for a recording
 * of SAMPLES samples, the worker sends itself the signal, or with `GPU` fails with a GPU error if its recognizer uses a GPU.
 * Only a program that runs from source has the fault.
 */
function testFault(environment: Readonly<Record<string, string | undefined>>): FaultPoint {
  const [operation, samples, signal] = environment.WORKER_TEST_FAULT?.split(":") ?? [];
  if (isCompiled || operation === undefined) return () => {};
  return (given, params, device) => {
    if (given !== operation || !JSON.stringify(params).includes(`"sampleCount":${samples}}`)) return;
    if (signal !== "GPU") process.kill(process.pid, signal as NodeJS.Signals);
    else if (device !== "cpu") throw new GpuError(new Error("the device was lost, as a test demands"));
  };
}
