import { getAccount } from "../accounts/index.ts";
import { HealthCheck } from "../engine/index.ts";
import { ExportMaker } from "../exports/index.ts";
import { ExportAnswers } from "../http/index.ts";
import { Library } from "../library/index.ts";
import { fetchLink, processRecording, recoverWork } from "../pipeline/index.ts";
import { RecordingQueue } from "../queue/index.ts";
import { RecordingEvents } from "../recordings/index.ts";
import type { ServerData } from "./open-data.ts";
import { pipelineServices } from "./pipeline-services.ts";
import { ServerReadiness } from "./server-readiness.ts";
import type { ServerEngine } from "./start-engine.ts";
import type { ServerStandby } from "./start-standby.ts";

/** The queue of a server with what surrounds it: the library, exports, events and the server's readiness. */
export type ServerQueue = Awaited<ReturnType<typeof startQueue>>;

/** Starts the queue, and resumes the work of an earlier server. */
export async function startQueue(
  data: ServerData,
  { speechEngine, local, fleet, engine, models }: ServerEngine,
  standby: ServerStandby,
) {
  const { store, recordings, dataDirectory, diskSpace, usage, metrics, log, now } = data;
  await using stack = new AsyncDisposableStack();
  const isDeleted = (id: string) => recordings.get(id) === null;
  const exportMaker = new ExportMaker({ dataDirectory, diskSpace });
  const exports = new ExportAnswers({ isDeleted, maker: exportMaker, now });
  stack.defer(() => exports.close());
  const removal = { recordings, dataDirectory, endExports: () => exports.removeDeleted() };
  const library = new Library({ ...removal, store, usage, now, auditsReads: () => data.running.values.audit.reads });
  const events = new RecordingEvents(store, log);
  const services = pipelineServices(data.running, data.files, {
    ...{ store, recordings, events, dataDirectory, engine, models, usage, metrics, log, now, diskSpace },
    waitsForMachine: true,
  });
  const freeModels = () => speechEngine.freeUnneeded();
  const queue = new RecordingQueue({
    recordings,
    slots: data.settings.queue.slots,
    fetch: (id, signal) => fetchLink(services, id, signal).finally(freeModels),
    process(id, signal) {
      // Starts the worker now, so that it is ready when it is needed.
      local.wake();
      return processRecording(services, id, signal).finally(freeModels);
    },
    priorityOf: (accountId) => getAccount(store, accountId)?.priority ?? 0,
    now,
    onFault: (recordingId, error) => log.error({ event: "recording.fault", recordingId, err: error }),
  });
  stack.defer(() => queue.stop());
  await recoverWork(services);
  await library.transient.withdrawLeft(data.settings.compat.keep_abandoned);
  const recovered = queue.recover();
  const fleetProblem = () => fleet?.engine.problem() ?? null;
  const model = () => data.speech.current().path;
  const health = new HealthCheck({ engine: local, model, now: () => performance.now() });
  const warning = () => speechEngine.memoryWarning() ?? standby.warning();
  const standbyProblem = () => standby.refusal();
  const started = stack.move();
  return {
    exports,
    exportMaker,
    removal,
    library,
    events,
    queue,
    /** Number of recordings that an earlier server had not finished. */
    recovered,
    fleetProblem,
    readiness: new ServerReadiness({
      ...{ diskSpace, queue, health, fleetProblem, standbyProblem, warning },
      leaseTrouble: () => data.lease.trouble(),
    }),
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}
