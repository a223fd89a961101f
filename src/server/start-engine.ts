import { coordinateFleet } from "./fleet-coordinator.ts";
import type { ServerData } from "./open-data.ts";
import { startSpeechEngine } from "./speech-models.ts";

/** The engine of a server, and the fleet whose workers it uses, too. */
export type ServerEngine = Awaited<ReturnType<typeof startEngine>>;

const MINUTE = 60_000;

/**
 * Starts the workers of this machine, and connects it to its fleet.
 * @throws {StartError} if the fleet's broker cannot be used
 */
export async function startEngine({ settings, running, metrics, diskSpace, dataDirectory, now, ...data }: ServerData) {
  await using stack = new AsyncDisposableStack();
  const { files, speech, recordings, log } = data;
  const onCompletion: typeof metrics.engine.stepDone = (completed) => metrics.engine.stepDone(completed);
  const { speechEngine, models } = startSpeechEngine(settings, {
    ...{ files, speech, recordings, log, onCompletion },
    onUnexpectedExit: ({ signal }) => metrics.engine.unexpectedExit(signal),
    idleMilliseconds: () => running.values.engine.idle_minutes * MINUTE,
    tunes: true,
    slots: () => running.values.queue.slots,
    lackOfSpace: (bytes) => diskSpace.shortage(bytes, "work"),
    verdictsPath: dataDirectory.verdicts,
    temporaryDirectory: dataDirectory.incoming,
  });
  stack.defer(() => speechEngine.close());
  const { engine } = speechEngine;
  const fleet =
    settings.fleet.broker === ""
      ? null
      : await coordinateFleet(settings.fleet, {
          ...{ engine, models, onCompletion, log, now },
          waitingAudioSeconds: () => recordings.open.waitingAudioSeconds(),
          goal: () => running.values.fleet,
          holdsLease: () => data.lease.isHeld(),
        });
  if (fleet !== null) stack.defer(() => fleet.close());
  const started = stack.move();
  return {
    speechEngine,
    /** The workers of this machine. */
    local: engine,
    fleet,
    /** The engine that processes recordings: the fleet's, else this machine's. */
    engine: fleet?.engine ?? engine,
    models: fleet?.models ?? models,
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}
