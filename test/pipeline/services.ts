import { ffmpegPath } from "../../harness/checkout.ts";
import { newRecording } from "../../harness/new-recording.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { createAccount } from "../../src/accounts/index.ts";
import { parseAllowList } from "../../src/addresses/index.ts";
import { openDatabase } from "../../src/database/index.ts";
import { DiskSpace, WorkReservations } from "../../src/disk/index.ts";
import { type PipelineServices, processRecording } from "../../src/pipeline/index.ts";
import { RecordingEvents, Recordings } from "../../src/recordings/index.ts";
import { DataDirectory } from "../../src/storage/index.ts";
import { createLogger } from "../../src/telemetry/index.ts";
import { Usage } from "../../src/usage/index.ts";
import { metricsWithoutEngine } from "../support/metrics-without-engine.ts";

/** Stands for a service that a test must not use. */
export function unused(): never {
  throw new Error("this service must not be used");
}

export const never = new AbortController().signal;

interface Options {
  /** The data directory; by default one that is removed with the pipeline. */
  readonly root?: string;
  /** Returns the disk space that stays free. */
  readonly reserveBytes?: () => number;
  readonly log?: PipelineServices["log"];
}

/** A pipeline with an account. Its recordings contain no speech unless a test says otherwise, so no model is used. */
export class QuietPipeline implements Disposable {
  readonly #folder = temporaryDirectory();
  readonly store = openDatabase(":memory:");
  readonly recordings = new Recordings(this.store, Date.now);
  readonly accountId = createAccount(this.store, "acme", { actor: "operator", now: 1 }).id;
  readonly dataDirectory: DataDirectory;
  services: PipelineServices;
  readonly #options: Options & { readonly run: unknown };

  /** @param run runs in place of each operation of the engine */
  constructor(run: unknown, options: Options = {}) {
    this.#options = { ...options, run };
    this.dataDirectory = new DataDirectory(options.root ?? this.#folder.path);
    this.services = this.started();
  }

  /** A directory for files of the test. */
  get folder(): string {
    return this.#folder.path;
  }

  /** Returns the services of a server that has just started, without reservations. */
  started(): PipelineServices {
    const { store, recordings, dataDirectory } = this;
    const { run, reserveBytes = () => 0, log = createLogger("silent") } = this.#options;
    const room = new DiskSpace(dataDirectory.root, reserveBytes);
    return {
      ...{ store, recordings, dataDirectory, log, now: Date.now, usage: new Usage(store) },
      metrics: metricsWithoutEngine({ recordings, dataPaths: dataDirectory, now: Date.now }),
      events: new RecordingEvents(store, log),
      engine: { run, partsAtOnce: 1 } as PipelineServices["engine"],
      models: {
        ...{ current: unused, find: unused, companionOf: unused, routes: unused, languagesOf: unused },
        ...{ sha256Of: unused, admit: unused, encoderOf: unused, knownEncoderOf: unused },
      },
      fetchOptions: () => ({
        enabled: true,
        ...{ allow: parseAllowList([]), maxBytes: 1, maxSeconds: 1, stallSeconds: 1, userAgent: "test" },
        reserveSpace: (bytes) => room.reserve(bytes, "intake"),
      }),
      decodeOptions: () => ({ ffmpegPath, maxSeconds: 3600 }),
      workReservations: new WorkReservations(room),
      audioAllowanceSeconds: () => 1_000_000,
      dropsAudio: () => false,
      waitsForMachine: true,
    };
  }

  /** Creates a recording. @returns its id */
  create(values: Parameters<typeof newRecording>[2] = {}): string {
    return this.recordings.create(newRecording(Bun.randomUUIDv7(), this.accountId, values)).id;
  }

  process(id: string, signal = never) {
    return processRecording(this.services, id, signal);
  }

  /** Returns the status of a recording, and why it failed. */
  ended(id: string) {
    const { status, failureReason, failureCause } = this.recordings.get(id) ?? unused();
    return [status, failureReason, failureCause];
  }

  [Symbol.dispose](): void {
    this.store.$client.close();
    this.#folder[Symbol.dispose]();
  }
}
