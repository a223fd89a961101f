import type { Settings } from "../config/index.ts";
import { createSurfaces, startServer, TranscriptionCreator } from "../http/index.ts";
import { type IntakeServices, RecordingIntake } from "../intake/index.ts";
import { checkRecordingUrl, probeRecording } from "../media/index.ts";
import type { ProgramFiles } from "../program/index.ts";
import type { Language } from "../speech/index.ts";
import type { RunningSettings } from "./running-settings.ts";
import type { ServerCertificate } from "./server-certificate.ts";
import type { ServerReadiness } from "./server-readiness.ts";
import { orStartError } from "./start-error.ts";
import type { ServerStandby } from "./start-standby.ts";

type CreatorOptions = ConstructorParameters<typeof TranscriptionCreator>[0];
type AppOptions = Parameters<typeof createSurfaces>[0];

/** The components that accept recordings, from requests and from watched folders. */
type IntakeParts = Omit<IntakeServices, "limits" | "probe" | "refusal"> & {
  readonly files: ProgramFiles;
  readonly running: RunningSettings;
  readonly readiness: ServerReadiness;
  readonly standby: Pick<ServerStandby, "refusal">;
};

type CreatorParts = Omit<CreatorOptions, "limits" | "speechModel" | "fetchEnabled" | "checkUrl"> & {
  readonly running: RunningSettings;
  /** Returns the speech model that new recordings get, and the languages that it supports. */
  readonly modelInUse: () => { readonly id: string; readonly languages: readonly Language[] };
};

type ServedParts = CreatorParts &
  Pick<IntakeParts, "readiness"> &
  Omit<
    AppOptions,
    | "limits"
    | "languages"
    | "metricsRemote"
    | "metricsToken"
    | "origins"
    | "readiness"
    | "warning"
    | "secure"
    | "compat"
    | "asrNetworks"
  > & {
    /** Returns why nothing may be answered now; null if it may. */
    readonly pause: () => string | null;
    /** The address to listen on. */
    readonly address: Pick<Settings["server"], "host" | "port">;
    readonly certificate: ServerCertificate | null;
  };

/** Returns the intake of recordings, which all surfaces and the watched folders share. */
export function recordingIntake({ files, running, readiness, standby, ...parts }: IntakeParts): RecordingIntake {
  return new RecordingIntake({
    ...parts,
    limits: () => running.values.limits,
    probe: (path) => probeRecording(files.ffmpeg, path),
    refusal: () =>
      readiness.isStopping ? "The server is stopping; it accepts work again in a moment." : standby.refusal(),
  });
}

/** Returns the creator of transcriptions, for both the API and the console. */
export function transcriptionCreator(parts: CreatorParts): TranscriptionCreator {
  const { running } = parts;
  return new TranscriptionCreator({
    ...parts,
    limits: () => running.values.limits,
    speechModel: parts.modelInUse,
    fetchEnabled: () => running.values.fetch.enabled,
    checkUrl: (text) => checkRecordingUrl(text, running.parsed.allow),
  });
}

/**
 * Serves the HTTP API.
 * @throws {StartError} if it cannot listen
 */
export function serveApi({ address, certificate, ...parts }: ServedParts): ReturnType<typeof startServer> {
  const { running, readiness, changes, modelInUse, log, metrics, now } = parts;
  const surfaces = createSurfaces({
    ...parts,
    limits: () => running.values.limits,
    languages: () => modelInUse().languages,
    compat: () => running.values.compat,
    asrNetworks: () => running.parsed.asrNetworks,
    metricsRemote: () => running.values.metrics.remote,
    metricsToken: () => running.parsed.metricsToken,
    origins: () => running.parsed.origins,
    readiness: () => readiness.trouble(),
    warning: () => readiness.warning(),
    secure: certificate !== null,
  });
  return orStartError(`can't listen on ${address.host}, port ${address.port}`, () =>
    startServer({
      surfaces,
      pause: parts.pause,
      host: address.host,
      port: address.port,
      credentials: certificate?.current ?? null,
      changes,
      log,
      metrics,
      now,
      proxies: () => running.parsed.proxies,
      hosts: () => running.parsed.hosts,
    }),
  );
}

/**
 * Time limit for responses in progress when the server stops. A slow client must not delay the stop: in total, systemd
 * allows 30 s.
 */
const LAST_RESPONSES_MILLISECONDS = 10_000;

/** Accepts no more connections, and closes those whose responses are not finished in time. */
export async function endServer(server: ReturnType<typeof startServer>): Promise<void> {
  const timer = setTimeout(() => void server.stop(true), LAST_RESPONSES_MILLISECONDS);
  await server.stop();
  clearTimeout(timer);
}
