import type { KeyUsage, Usage } from "../accounts/index.ts";
import type { Settings } from "../config/index.ts";
import { createApp, type ExportAnswers, type ExtraPaths, startServer, TranscriptionCreator } from "../http/index.ts";
import { checkRecordingUrl, probeRecording } from "../media/index.ts";
import type { ProgramFiles } from "../program/index.ts";
import type { RecordingQueue, Recordings } from "../recordings/index.ts";
import type { Language } from "../speech/index.ts";
import type { DataDirectory, DiskSpace, Store } from "../storage/index.ts";
import type { Logger, Metrics } from "../telemetry/index.ts";
import type { RunningSettings } from "./running-settings.ts";
import type { ServerCertificate } from "./server-certificate.ts";
import type { ServerReadiness } from "./server-readiness.ts";
import { orStartError } from "./start-error.ts";

/** The components that accept recordings. */
interface CreatingParts {
  readonly store: Store;
  readonly dataDirectory: DataDirectory;
  readonly files: ProgramFiles;
  readonly running: RunningSettings;
  readonly recordings: Recordings;
  readonly queue: RecordingQueue;
  readonly usage: Usage;
  readonly diskSpace: DiskSpace;
  readonly readiness: ServerReadiness;
  /** Returns the speech model that new recordings get, and the languages that it supports. */
  readonly modelInUse: () => { readonly id: string; readonly languages: readonly Language[] };
  readonly metrics: Metrics;
  readonly now: () => number;
}

export interface ServedParts extends CreatingParts {
  /** The address to listen on. */
  readonly address: Pick<Settings["server"], "host" | "port">;
  readonly certificate: ServerCertificate | null;
  readonly creator: TranscriptionCreator;
  readonly exports: ExportAnswers;
  /** Handler for the paths outside the API. */
  readonly extraPaths: ExtraPaths;
  readonly lastUse: KeyUsage;
  readonly log: Logger;
}

/** Returns the creator of transcriptions, for both the API and the console. */
export function transcriptionCreator(parts: CreatingParts): TranscriptionCreator {
  const { store, dataDirectory, recordings, queue, usage, diskSpace, metrics, running, readiness, now } = parts;
  return new TranscriptionCreator({
    ...{ store, recordings, dataDirectory, usage, queue, diskSpace, metrics, now },
    limits: () => running.values.limits,
    speechModel: parts.modelInUse,
    probe: (path) => probeRecording(parts.files.ffmpeg, path),
    fetchEnabled: () => running.values.fetch.enabled,
    checkUrl: (text) => checkRecordingUrl(text, running.allow),
    refusal: () => (readiness.isStopping ? "The server is stopping; it accepts work again in a moment." : null),
  });
}

/**
 * Serves the HTTP API.
 * @throws {StartError} if it cannot listen
 */
export function serveApi(parts: ServedParts): ReturnType<typeof startServer> {
  const { store, recordings, dataDirectory, creator, exports, extraPaths, metrics, log, now, running } = parts;
  const { readiness, modelInUse, certificate } = parts;
  const app = createApp({
    ...{ store, recordings, dataDirectory, creator, exports, metrics, log, now },
    limits: () => running.values.limits,
    lastUse: parts.lastUse,
    languages: () => modelInUse().languages,
    metricsRemote: () => running.values.metrics.remote,
    readiness: () => readiness.trouble(),
    secure: certificate !== null,
  });
  const { host, port } = parts.address;
  const credentials = certificate?.current ?? null;
  return orStartError(`can't listen on ${host}, port ${port}`, () =>
    startServer({
      ...{ app, extraPaths, host, port, credentials, log, metrics, now },
      proxies: () => running.proxies,
      hosts: () => running.hosts,
    }),
  );
}

/**
 * Time limit for responses in progress when the server stops. A slow client must not delay the stop: in total, systemd
 * allows 30 s.
 */
const lastAnswersMilliseconds = 10_000;

/** Accepts no more connections, and closes those whose responses are not finished in time. */
export async function endServer(server: ReturnType<typeof startServer>): Promise<void> {
  const timer = setTimeout(() => void server.stop(true), lastAnswersMilliseconds);
  await server.stop();
  clearTimeout(timer);
}
