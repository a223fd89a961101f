import { rm } from "node:fs/promises";
import { join } from "node:path";
import { getAccount } from "../../accounts/index.ts";
import type { Store } from "../../database/index.ts";
import type { DiskSpace } from "../../disk/index.ts";
import type { CreatePlace, RecordingIntake } from "../../intake/index.ts";
import type { DataDirectory } from "../../storage/index.ts";
import type { Logger } from "../../telemetry/index.ts";
import { SAMPLE_RATE } from "../../timeline/index.ts";
import type { Usage } from "../../usage/index.ts";
import type { LiveOptions } from "../contract.ts";
import { writeWaveFile } from "../sound/index.ts";
import type { LiveRows, OpenRow } from "../store/index.ts";

/** Sound from which a session becomes a recording; the pipeline refuses less. */
const MIN_SAMPLES = SAMPLE_RATE / 2;
const BYTES_PER_SAMPLE = 2;

/** Data directory, as live sessions use it. */
export type LiveDirectory = Pick<DataDirectory, "live" | "liveFilesOf" | "incoming">;

export interface FinisherServices {
  readonly store: Store;
  readonly rows: LiveRows;
  readonly intake: Pick<RecordingIntake, "create">;
  readonly usage: Usage;
  readonly dataDirectory: LiveDirectory;
  readonly diskSpace: Pick<DiskSpace, "reserve">;
  /** Returns the id of the speech model for new recordings. */
  readonly modelId: () => string;
  readonly log: Logger;
}

/** A session that has ended and is kept. */
export interface EndedSession extends Pick<OpenRow, "id" | "accountId" | "workspaceId" | "createdAt"> {
  readonly options: LiveOptions;
  readonly sampleCount: number;
  /** Its place among the open recordings of the account. */
  readonly place: CreatePlace;
}

/** Makes recordings of sessions that have ended. What fails, for example on a full disk, is repeated later. */
export class Finisher {
  readonly #services: FinisherServices;
  readonly #failed = new Map<string, EndedSession>();
  readonly #stopping = new AbortController();
  readonly #inProgress = new Set<Promise<unknown>>();
  #repeating: Promise<void> | null = null;

  constructor(services: FinisherServices) {
    this.#services = services;
  }

  /** Makes a recording of a session. @returns its id; null if there is too little sound, or if this is repeated later */
  async finish(session: EndedSession): Promise<string | null> {
    const { log } = this.#services;
    const finished = this.#finish(session);
    this.#inProgress.add(finished);
    try {
      return await finished;
    } catch (err) {
      this.#failed.set(session.id, session);
      log.warn({ event: "live.recording_delayed", sessionId: session.id, err });
      return null;
    } finally {
      this.#inProgress.delete(finished);
    }
  }

  /** Interrupts what is in progress: the next server repeats it. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error("the server stops"));
    await Promise.allSettled(this.#inProgress);
  }

  /** Repeats what has failed. */
  async repeat(): Promise<void> {
    this.#repeating ??= this.#repeat().finally(() => {
      this.#repeating = null;
    });
    await this.#repeating;
  }

  async #repeat(): Promise<void> {
    for (const session of [...this.#failed.values()]) {
      this.#failed.delete(session.id);
      await this.finish(session);
    }
  }

  async #finish(session: EndedSession): Promise<string | null> {
    const { store, rows, usage, dataDirectory, log } = this.#services;
    const { id, accountId, sampleCount, place } = session;
    const files = dataDirectory.liveFilesOf(id);
    const account = getAccount(store, accountId);
    if (account === null || rows.find(id) === null || sampleCount < MIN_SAMPLES) {
      rows.remove(id);
      if (sampleCount < MIN_SAMPLES) usage.refundAudio(id);
      place.release();
      await files.remove();
      return null;
    }
    const recording = await this.#create(session, account);
    await files.remove();
    log.info({ event: "live.recorded", sessionId: id, recordingId: recording.id });
    return recording.id;
  }

  async #create(session: EndedSession, account: Parameters<RecordingIntake["create"]>[0]["account"]) {
    const { rows, intake, usage, dataDirectory, diskSpace, modelId } = this.#services;
    const { id, sampleCount, place, options, workspaceId } = session;
    const path = join(dataDirectory.incoming, `${id}.wav`);
    using _space = diskSpace.reserve(sampleCount * BYTES_PER_SAMPLE, "work");
    try {
      await rm(path, { force: true });
      const sizeBytes = await writeWaveFile(
        dataDirectory.liveFilesOf(id).pcm,
        sampleCount,
        path,
        this.#stopping.signal,
      );
      const name = `${options.name ?? nameOf(session.createdAt)}.wav`;
      return await intake.create(
        { kind: "application", account, workspaceId, requireAccess: () => {} },
        {
          source: { type: "file", file: { path, sizeBytes, name } },
          pinnedLanguage: options.language,
          hints: { prompt: options.prompt, minSpeakers: null, maxSpeakers: null },
          speechModel: modelId(),
        },
        {
          place,
          isCounted: true,
          also(writer, recording) {
            rows.link(writer, id, recording.id);
            usage.transferCharge(writer, id, recording.id);
          },
        },
      );
    } finally {
      // The library has moved it, unless the recording was not created.
      await rm(path, { force: true });
    }
  }
}

/** Returns the name of the recording of a session that has none. */
function nameOf(createdAt: number): string {
  return `Live ${new Date(createdAt).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}
