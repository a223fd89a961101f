import { audit } from "../accounts/index.ts";
import { deferSync, type Recording, type Store, transact } from "../database/index.ts";

/** The part of the server by which a transcript is read. */
export type ReadSurface = "v1" | "openai" | "asr" | "console" | "folder";

/** The person, key, network or folder that reads a transcript, and by which surface. */
export interface Reader {
  /** Name for the audit log: that of a person, the id of a key, `address:IP` without a key, or `folder:ID`. */
  readonly actor: string;
  readonly surface: ReadSurface;
}

export interface ReadLogServices {
  readonly store: Store;
  /** Whether reads are recorded (`audit.reads`). They are not if it is left out. */
  readonly auditsReads?: () => boolean;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Time for which further views of a recording by the same reader belong to the first one. */
const VIEW_MILLISECONDS = 10 * 60_000;
/** Views that are remembered. If more readers come within the time, some views have several entries. */
const MAX_VIEWS = 10_000;

/**
 * Records in the audit log who reads which transcript: each export, and each view. Pages of a transcript that a reader
 * gets within ten minutes are one view. An entry is written before the text is sent, so a read that cannot be recorded
 * fails. Only a power cut can lose the entries of its last moments.
 */
export class ReadLog {
  readonly #services: ReadLogServices;
  /** Times of the views, by reader and recording, in the order of time. */
  readonly #views = new Map<string, number>();

  constructor(services: ReadLogServices) {
    this.#services = services;
  }

  /** Records that texts of recordings are shown. */
  viewed({ actor, surface }: Reader, recordings: readonly Recording[]): void {
    if (this.#services.auditsReads?.() !== true) return;
    const now = this.#services.now();
    const keyOf = ({ id }: Recording) => `${surface} ${id} ${actor}`;
    const isNew = (recording: Recording) => {
      const at = this.#views.get(keyOf(recording));
      return at === undefined || now - at >= VIEW_MILLISECONDS || now < at;
    };
    const viewed = recordings.filter(isNew);
    if (viewed.length === 0) return;
    this.#write({ actor, surface }, "transcripts.view", viewed, {});
    for (const recording of viewed) {
      // Moves the entry to the end.
      this.#views.delete(keyOf(recording));
      this.#views.set(keyOf(recording), now);
    }
    for (const key of this.#views.keys()) {
      if (this.#views.size <= MAX_VIEWS) break;
      this.#views.delete(key);
    }
  }

  /** Records that a transcript is handed out as a whole. @param format the format, by its name on the surface */
  exported(reader: Reader, recording: Recording, format: string): void {
    if (this.#services.auditsReads?.() !== true) return;
    this.#write(reader, "transcripts.export", [recording], { format });
  }

  #write({ actor, surface }: Reader, action: string, recordings: readonly Recording[], more: object): void {
    const { store, now } = this.#services;
    deferSync(store, () =>
      transact(store, (writer) => {
        for (const { id, accountId, workspaceId, revision } of recordings) {
          const details = { account: accountId, workspace: workspaceId, surface, ...more, revision };
          audit(writer, { actor, now: now() }, action, id, details);
        }
      }),
    );
  }
}
