import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { type Recording, type Store, transact, type Writer } from "../database/index.ts";
import {
  type Comparison,
  type Corrected,
  type Correcting,
  type Correction,
  CorrectionError,
  type EarlierState,
  type Edit,
  type Transcript,
} from "../transcripts/index.ts";
import { LibraryError } from "./library-error.ts";
import { auditAs, type Editor, type Viewer } from "./viewer.ts";

/** The page or request that sends a correction, and what its author has seen. */
type CorrectionOrigin = Pick<Correcting, "editor" | "sequence" | "seen" | "expected">;

interface RevisionServices {
  readonly store: Store;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Checks which recordings a viewer may see and change. */
interface Access {
  transcript(viewer: Viewer, of: Recording | string): Transcript;
  requireChangeable(viewer: Viewer, id: string): Recording;
}

/** The corrections of transcripts, and their earlier states, for viewers who may change or see them. */
export class Revisions {
  readonly #services: RevisionServices;
  readonly #library: Access;

  constructor(services: RevisionServices, library: Access) {
    this.#services = services;
    this.#library = library;
  }

  /**
   * Corrects the transcript of a completed recording. The revision names its author; of an application, the audit log
   * does as well.
   * @param also runs further statements in the same transaction
   * @throws {LibraryError} as `transcript` and `requireChangeable`; `not_corrected`
   */
  correct(
    viewer: Editor,
    id: string,
    correction: Correction | Edit,
    from: CorrectionOrigin,
    also: (writer: Writer, corrected: Corrected) => void = () => {},
  ): Corrected {
    const { store, now } = this.#services;
    const library = this.#library;
    const transcript = library.transcript(viewer, library.requireChangeable(viewer, id));
    const by = { ...from, author: viewer.actor, now: now() };
    const { action } = correction;
    try {
      return transact(store, (writer) => {
        const corrected = transcript.correct(correction, by);
        if (corrected === null) throw new LibraryError({ kind: "not_found" });
        if (viewer.kind === "application" && corrected.number !== null) {
          auditAs(viewer, now(), writer, "recordings.correct", id, { action, revision: String(corrected.number) });
        }
        also(writer, corrected);
        return corrected;
      });
    } catch (error) {
      throwNotCorrected(error);
    }
  }

  /**
   * Restores the transcript as it was after a revision, or as recognized (0). A long one is restored in several
   * revisions, between which others may read it.
   * @param expected the revision that must be the latest
   * @returns number of the latest revision
   * @throws {LibraryError} as `correct`; `not_corrected` also after some of the revisions, when somebody else corrects
   *   the transcript meanwhile
   */
  async restore(viewer: Editor, id: string, revision: number, expected: number): Promise<number> {
    const editor = crypto.randomUUID();
    let latest = expected;
    for (let sequence = 0; ; sequence++) {
      const from = { editor, sequence, seen: latest, expected: latest };
      const { number, next } = this.correct(viewer, id, { action: "restore", revision }, from);
      latest = number ?? latest;
      if (next === null) return latest;
      await yieldToEventLoop();
    }
  }

  /**
   * Compares the transcript after a revision, or as recognized (0), with another one.
   * @param other null: the latest
   * @throws {LibraryError} as `transcript`; `not_corrected`
   */
  async compare(viewer: Viewer, id: string, revision: number, other: number | null = null): Promise<Comparison> {
    return await this.#library.transcript(viewer, id).compareWith(revision, other).catch(throwNotCorrected);
  }

  /**
   * Returns the transcript as it was after a revision, or as recognized (0).
   * @throws {LibraryError} as `transcript`; `not_corrected`
   */
  async stateAfter(viewer: Viewer, id: string, revision: number): Promise<EarlierState> {
    return await this.#library.transcript(viewer, id).stateAfter(revision).catch(throwNotCorrected);
  }
}

/** @throws {LibraryError} `not_corrected` */
function throwNotCorrected(error: unknown): never {
  if (!(error instanceof CorrectionError)) throw error;
  throw new LibraryError({ kind: "not_corrected", reason: error.reason });
}
