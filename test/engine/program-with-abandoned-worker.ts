import { join } from "node:path";
import { WorkerProcess } from "../../src/engine/worker-process.ts";
import { scriptedStart } from "../support/scripted-start.ts";

// A program whose worker does not exit when it is killed, like a worker that hangs in a driver.
const nothing = () => {};
const command = [process.execPath, join(import.meta.dir, "../support/scripted-worker.ts")];
const options = { command, killMilliseconds: 50, memoryKills: () => 0 };
const ready = Promise.withResolvers<void>();
const events = { onMessage: () => ready.resolve(), onLogLine: nothing, onExit: nothing };
const worker = new WorkerProcess(scriptedStart, options, events);
await ready.promise;
Object.getPrototypeOf(Bun.spawn(["true"])).kill = nothing;
worker.kill();
await worker.exited();
console.log(worker.pid);
