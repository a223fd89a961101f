import { createHash } from "node:crypto";
import { type Static, Type } from "@sinclair/typebox";
import { type Engine, EngineCrashError } from "../engine/index.ts";
import type { Logger } from "../telemetry/index.ts";
import type { Checkpoints } from "../transcriptions/index.ts";
import { operationSignal } from "./operation-signal.ts";

/** The operation that a recording is at; one at a time. */
const triesSchema = Type.Object({
  /** Its name, and a digest of what it is done with. */
  operation: Type.String(),
  /** Workers that died of it. */
  deaths: Type.Integer({ minimum: 0 }),
  /** Times it was begun and the server ended before it did, by nobody's order. */
  interruptions: Type.Integer({ minimum: 0 }),
});
type KeptTries = Static<typeof triesSchema>;

/**
 * A server that was killed so often in the middle of one operation waits before it tries again: the other recordings come
 * before it, and a service manager that counts starts (systemd: five in five minutes) doesn't give up.
 */
const doubtfulInterruptions = 3;
const defaultPauseMilliseconds = 60_000;
/** After so many it is given up. Only chance would have an innocent one hit that often, behind those pauses. */
const maxInterruptions = 6;

export interface RememberOptions {
  readonly recordingId: string;
  readonly checkpoints: Checkpoints;
  readonly log: Logger;
  /** How long an operation waits that the server ended in again and again. */
  readonly pauseMilliseconds?: number;
}

/**
 * The engine as one recording uses it: how often an operation took the worker down, or the server, is kept with the
 * recording, so that one that does it again and again comes to its end whatever is started anew meanwhile. Where the
 * recording is parked, what the worker has begun may end.
 */
export function rememberTries(engine: Pick<Engine, "run">, options: RememberOptions): Pick<Engine, "run"> {
  const { recordingId, checkpoints, log } = options;
  const write = (tries: KeptTries) => checkpoints.write("tries", 0, triesSchema, tries);
  return {
    async run(operation, params, signal) {
      signal.throwIfAborted();
      const name = `${operation} ${digestOf(params)}`;
      const kept = checkpoints.read("tries", 0, triesSchema);
      let tries = kept?.operation === name ? kept : { operation: name, deaths: 0, interruptions: 0 };
      if (tries.interruptions >= maxInterruptions) {
        throw new EngineCrashError(`the server ended ${tries.interruptions} times at ${operation}`);
      }
      if (tries.interruptions >= doubtfulInterruptions) {
        log.warn({ event: "recording.doubtful", recordingId, operation, interruptions: tries.interruptions });
        await pause(options.pauseMilliseconds ?? defaultPauseMilliseconds, signal);
      }
      const before = tries.interruptions;
      using own = operationSignal(signal);
      try {
        return await engine.run(operation, params, own.signal, {
          deaths: tries.deaths,
          begins() {
            tries = { ...tries, interruptions: before + 1 };
            write(tries);
            own.begun();
          },
          died() {
            tries = { ...tries, deaths: tries.deaths + 1, interruptions: before };
            write(tries);
          },
        });
      } catch (error) {
        // Left by order: that is no interruption.
        if (signal.aborted && tries.interruptions > before) write({ ...tries, interruptions: before });
        throw error;
      }
    },
  };
}

function digestOf(params: unknown): string {
  return createHash("sha256").update(JSON.stringify(params)).digest("hex").slice(0, 16);
}

async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, milliseconds);
  signal.addEventListener("abort", () => resolve(), { once: true });
  await promise;
  clearTimeout(timer);
  signal.throwIfAborted();
}
