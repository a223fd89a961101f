import { Engine } from "../../src/engine/index.ts";
import { createLogger } from "../../src/telemetry/index.ts";

// A program whose engine is closed during the long delay before it restarts a worker.
const waits = Promise.withResolvers<void>();
const engine = new Engine({
  command: [],
  prepare: () => Promise.reject(new Error("the model is missing")),
  log: createLogger("silent"),
  restartDelayMilliseconds: () => {
    waits.resolve();
    return 3_600_000;
  },
});
await waits.promise;
await engine.close();
