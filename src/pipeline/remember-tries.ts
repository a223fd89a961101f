import { createHash } from "node:crypto";
import { Type } from "@sinclair/typebox";
import { type Engine, EngineCrashError, EngineKilledError } from "../engine/index.ts";
import type { Logger } from "../telemetry/index.ts";
import type { Checkpoints } from "../transcriptions/index.ts";
import { operationSignal } from "./operation-signal.ts";
import { ParkingError } from "./parking-error.ts";

/** The operation that a recording is at; one at a time. */
const triesSchema = Type.Object({
  /** Its name, and a digest of what it is done with. */
  operation: Type.String(),
  /** Workers that died of it. */
  deaths: Type.Integer({ minimum: 0 }),
  /** Times it was begun, and its worker was killed from outside or the server ended, by nobody's order. */
  interruptions: Type.Integer({ minimum: 0 }),
});

/**
 * What was interrupted so often waits before it is tried again: memory that was short may be there then, the other recordings
 * come before it, and a service manager that counts starts (systemd: five in five minutes) doesn't give up.
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
  let lastDone: string | null = null;
  return {
    async run(operation, params, signal) {
      signal.throwIfAborted();
      const name = `${operation} ${digestOf(params)}`;
      const kept = checkpoints.read("tries", 0, triesSchema);
      let tries =
        kept?.operation === name && name !== lastDone ? kept : { operation: name, deaths: 0, interruptions: 0 };
      const change = (deaths: number, interruptions: number) => {
        tries = { operation: name, deaths: tries.deaths + deaths, interruptions: tries.interruptions + interruptions };
        checkpoints.write("tries", 0, triesSchema, tries);
      };
      for (;;) {
        const { interruptions } = tries;
        if (interruptions >= maxInterruptions) {
          throw new EngineCrashError(`${operation} was interrupted ${interruptions} times`);
        }
        if (interruptions >= doubtfulInterruptions) {
          log.warn({ event: "recording.doubtful", recordingId, operation, interruptions });
          await pause(options.pauseMilliseconds ?? defaultPauseMilliseconds, signal);
        }
        let runs = false;
        using own = operationSignal(signal);
        try {
          const result = await engine.run(operation, params, own.signal, {
            deaths: tries.deaths,
            begins() {
              // Taken back by whatever else ends it; a server that ends can't.
              change(0, 1);
              runs = true;
              own.begun();
            },
            died(death) {
              runs = false;
              if (death === "of itself") change(1, -1);
            },
          });
          lastDone = name;
          return result;
        } catch (error) {
          // Of a recording that a command has ended nothing is kept.
          if (runs && signal.reason instanceof ParkingError) change(0, -1);
          if (!(error instanceof EngineKilledError)) throw error;
        }
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
