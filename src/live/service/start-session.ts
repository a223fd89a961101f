import { getAccount } from "../../accounts/index.ts";
import { respellSegment } from "../../replacements/index.ts";
import { joinTerms } from "../../text/index.ts";
import type { LiveEnd, LiveOptions } from "../contract.ts";
import { checkOptions } from "../options.ts";
import { OpenSession, type OpenSessionOptions, type ReportedEnd } from "../session/live-session.ts";
import { SessionSound } from "../session/session-sound.ts";
import { SessionFile } from "../sound/index.ts";
import type { LiveRows } from "../store/index.ts";
import type { LiveServices } from "./services.ts";

/** A session to start, or to continue after an earlier server. */
export interface StartedSession {
  readonly id: string;
  readonly accountId: string;
  readonly options: LiveOptions;
  readonly nextNumber: number;
  readonly names: ReadonlyMap<string, string>;
  readonly earlier: OpenSessionOptions["earlier"];
  readonly onEnding: (reason: LiveEnd) => void;
  readonly onEnded: (reason: LiveEnd) => Promise<ReportedEnd>;
}

/**
 * Opens the file of a session, and starts to work on it.
 * @throws {MachineError} when the disk is full
 */
export function startSession(services: LiveServices, rows: LiveRows, started: StartedSession): OpenSession {
  const { store, dataDirectory, diskSpace, models, metrics, limits } = services;
  const { id, accountId, options } = started;
  const { directory, pcm: path } = dataDirectory.liveFilesOf(id);
  const file = new SessionFile({ path, diskSpace, keep: options.keep });
  return new OpenSession({
    ...started,
    engine: services.engine,
    models,
    directory,
    path,
    sound: new SessionSound(options.format, file),
    rows: options.keep ? rows : null,
    respell: (segment) => respellSegment(store, accountId, segment),
    vocabulary: (prompt) => joinTerms([getAccount(store, accountId)?.vocabulary ?? "", prompt ?? ""]),
    check: (changed) => checkOptions(changed, languagesOf(services)),
    maxSeconds: () => limits().recording_seconds,
    onChange({ options: changed, names, settledSamples }) {
      if (!options.keep) return;
      rows.change(id, {
        ...(changed === undefined ? {} : { options: changed }),
        ...(names === undefined ? {} : { speakerNames: JSON.stringify(Object.fromEntries(names)) }),
        ...(settledSamples === undefined ? {} : { settledSamples }),
      });
    },
    onSound: (seconds) => metrics.received(seconds),
    onPass: (seconds) => metrics.passed(seconds),
    newId: () => Bun.randomUUIDv7(),
    log: services.log,
    clock: services.clock,
  });
}

/** Returns the ISO codes of the languages in which the server recognizes words. */
export function languagesOf({ models }: Pick<LiveServices, "models">): string[] {
  return models.languagesOf(models.current()).map(({ code }) => code);
}
