import { writeFileSync } from "node:fs";
import { Value } from "@sinclair/typebox/value";
import {
  deviceOf,
  type FromWorker,
  type OperationName,
  operations,
  type Start,
  type ToWorker,
  toWorkerSchema,
} from "../engine/index.ts";
import { dieWithParent, yieldProcessor } from "../program/index.ts";
import { messageOf } from "../text/index.ts";
import { GpuError } from "./gpu-error.ts";
import { testFault } from "./test-fault.ts";
import { openWorkbench, type Workbench } from "./workbench.ts";

/**
 * The worker's side: takes messages from the server until it goes away. What fails in one operation is answered; what
 * fails in native code ends this process, and the server starts another.
 */
export function runWorker(): void {
  // A worker without a server is of no use. The closed channel tells at once; the kernel's signal reaches a worker, too,
  // whose event loop is held up by a computation.
  process.on("disconnect", () => process.exit(0));
  dieWithParent();
  dieBeforeParent();
  yieldProcessor();
  // A terminal and some service managers tell the whole group. The server ends its worker, once what runs is stored.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
  const faultPoint = testFault(process.env);
  let workbench: Workbench | null = null;
  const running = new Map<number, AbortController>();

  const start = async (message: Start) => {
    try {
      workbench = await openWorkbench(message);
      const { cpuVariant, devices, speechDevice } = workbench;
      send({ type: "ready", cpuVariant, devices, speechDevice });
      tellGpuMemory(workbench);
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
      if (workbench === null) throw new Error("an operation came before the models");
      if (!Value.Check(operations[operation].params, params)) throw new Error(`bad parameters of ${operation}`);
      faultPoint(operation, params, deviceOf(operation, workbench).device);
      send({ type: "done", id, result: await workbench.run(operation, params, controller.signal) });
    } catch (error) {
      // The server ends this process, and has it done elsewhere.
      if (error instanceof GpuError) return send({ type: "gpuFailed", failure: error.failure });
      const code =
        error instanceof Error && "code" in error && typeof error.code === "string" ? { code: error.code } : {};
      send({ type: "failed", id, message: messageOf(error), ...code });
    } finally {
      running.delete(id);
    }
  };

  process.on("message", (message: unknown) => {
    if (!Value.Check(toWorkerSchema, message)) throw new Error("the server sent a message that is none of ours");
    const known: ToWorker = message;
    if (known.type === "start") void start(known);
    else if (known.type === "run") void run(known.id, known.operation, known.params);
    else if (known.type === "cancel") running.get(known.id)?.abort();
    else workbench?.keepModels(known.paths);
  });
}

/** GPUs are shared with other programs, so what is free changes by itself. */
const gpuMemoryMilliseconds = 15_000;

function tellGpuMemory(workbench: Workbench): void {
  const tell = () => {
    const memory = workbench.gpuMemory();
    if (memory !== null) send({ type: "gpuMemory", memory });
  };
  if (workbench.speechDevice === "cpu") return;
  tell();
  setInterval(tell, gpuMemoryMilliseconds);
}

function send(message: FromWorker): void {
  process.send?.(message);
}

/**
 * Short of memory, the kernel ends the process with the highest score (proc(5), oom_score_adj): that shall be this one,
 * which is started again at the cost of a chunk, and not the server. Where it can't be said, the sizes decide.
 */
function dieBeforeParent(): void {
  try {
    writeFileSync("/proc/self/oom_score_adj", "500");
  } catch {}
}
