import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { getAccount } from "../accounts/index.ts";
import { type Recording, transact, type Writer } from "../database/index.ts";
import { newRecordingId, type RecordingFilter, type Recordings, tags as recordingTags } from "../recordings/index.ts";
import { type SearchPage, type SearchQuery, searchRecordings } from "../search/index.ts";
import { isRecordingId } from "../storage/index.ts";
import { Transcript, Translation } from "../transcripts/index.ts";
import { parseAccountLimits, type Usage } from "../usage/index.ts";
import { accountsOf, ownerOf, requireAccess, requireChange, seesAccount, visibleAccounts } from "./access.ts";
import { LibraryError, type RerunRefusal } from "./library-error.ts";
import { ReadLog, type ReadLogServices } from "./read-log.ts";
import { cancelOpen, type RemovalServices, removeEnded } from "./removal.ts";
import { Revisions } from "./revisions.ts";
import { TransientRecordings } from "./transient-recordings.ts";
import { auditAs, type Editor, type Operator, type Viewer } from "./viewer.ts";

export interface LibraryServices extends ReadLogServices, RemovalServices {
  readonly usage: Usage;
}

/** A recording that an application or an operator sends. */
export interface Entry {
  readonly values: Omit<Parameters<Recordings["create"]>[0], "id">;
  /** Local file with the audio, which the library takes over; null for a link. */
  readonly audioPath: string | null;
  /** Checks in the tick of the insertion whether the recording may still be created; throws if not. */
  readonly check: () => void;
  /** Runs further statements in the transaction that inserts the record. */
  readonly also: (writer: Writer, recording: Recording) => void;
  /** Called in the tick of the insertion. */
  readonly onCreated: (recording: Recording) => void;
}

/** How a recording is processed again, and how many recordings of an account without own limits may be open. */
type Rerun = Omit<Parameters<Recordings["reruns"]["create"]>[1], "author"> & { readonly recordingsPerAccount: number };

/** Number of rows removed at once, in some milliseconds for which other writers wait. */
const ROWS_AT_ONCE = 100;

/**
 * The recordings, as surfaces see them: every call names the viewer for whom it reads or changes. Nothing else decides
 * who may see a recording, and nothing else removes or cancels one.
 */
export class Library {
  /** Records who reads transcripts. Whoever sends the text of one calls it. */
  readonly reads: ReadLog;
  /** The corrections of transcripts. */
  readonly revisions: Revisions;
  readonly transient: TransientRecordings;
  readonly #services: LibraryServices;
  /** Resolves when the last recording is created, or refused. */
  #lastEntry: Promise<void> = Promise.resolve();

  constructor(services: LibraryServices) {
    this.reads = new ReadLog(services);
    this.revisions = new Revisions(services, this);
    this.transient = new TransientRecordings(services);
    this.#services = services;
  }

  /**
   * Stores the audio of a recording and creates its record. If the record is not created, the audio is removed, at the
   * latest by the next start. Records are created one after the other: they must be inserted in the order of their ids,
   * and the audio is stored under the id.
   * @throws what `check` throws
   */
  async create(entry: Entry): Promise<Recording> {
    const { dataDirectory } = this.#services;
    if (entry.audioPath !== null) await dataDirectory.audio.prepare(entry.audioPath);
    const created = this.#lastEntry.then(() => this.#create(entry));
    this.#lastEntry = created.then(
      () => {},
      () => {},
    );
    return await created;
  }

  /** Resolves when the creates that have begun are finished: until then, their audio may be stored without a record. */
  settled(): Promise<void> {
    return this.#lastEntry;
  }

  async #create({ values, audioPath, check, also, onCreated }: Entry): Promise<Recording> {
    const { recordings, dataDirectory, now } = this.#services;
    const { audio } = dataDirectory;
    const id = newRecordingId(now());
    let recording: Recording;
    try {
      if (audioPath !== null) await audio.put(id, audioPath);
      check();
      recording = recordings.create({ ...values, id }, also);
    } catch (error) {
      await audio.remove(id);
      throw error;
    }
    onCreated(recording);
    return recording;
  }

  /**
   * Returns a recording.
   * @throws {LibraryError} `not_found` if the id is malformed or unknown, or if the recording belongs to another
   *   account: an application can't distinguish them; `other_workspace`
   */
  require(viewer: Viewer, id: string): Recording {
    const recording = isRecordingId(id) ? this.#services.recordings.get(id) : null;
    if (recording === null || recording.rerunOf !== null) throw new LibraryError({ kind: "not_found" });
    requireAccess(viewer, recording);
    return recording;
  }

  /**
   * Returns a recording that the viewer may change.
   * @throws {LibraryError} as `require`; `not_allowed` for a reader
   */
  requireChangeable(viewer: Viewer, id: string): Recording {
    const recording = this.require(viewer, id);
    requireChange(viewer);
    return recording;
  }

  /** Returns whether a viewer sees the recordings of an account. */
  sees(viewer: Viewer, accountId: string): boolean {
    return seesAccount(viewer, accountId);
  }

  /**
   * Requires that a viewer may create recordings for an account.
   * @throws {LibraryError} `not_found` for an account whose recordings the viewer does not see; `not_allowed`
   */
  requireCreation(viewer: Viewer, accountId: string): void {
    if (!seesAccount(viewer, accountId)) throw new LibraryError({ kind: "not_found" });
    requireChange(viewer);
  }

  /** Returns a recording for the server itself, such as for a request that waits for it; null if it is deleted. */
  find(id: string): Recording | null {
    return this.#services.recordings.get(id);
  }

  /**
   * Returns the transcript of a completed recording.
   * @param of the recording, or its id
   * @throws {LibraryError} as `require`; `not_completed`
   */
  transcript(viewer: Viewer, of: Recording | string): Transcript {
    const recording = typeof of === "string" ? this.require(viewer, of) : of;
    const { status } = recording;
    if (status !== "completed") throw new LibraryError({ kind: "not_completed", status });
    return this.transcriptOf(viewer, recording);
  }

  /**
   * Returns the translation of a completed recording.
   * @throws {LibraryError} as `require`; `not_completed`, `not_translated`
   */
  translation(viewer: Viewer, recording: Recording): Translation {
    const { status, isTranslated } = recording;
    requireAccess(viewer, recording);
    if (!isTranslated) throw new LibraryError({ kind: "not_translated" });
    if (status !== "completed") throw new LibraryError({ kind: "not_completed", status });
    return new Translation(this.#services.store, recording);
  }

  /**
   * Returns the transcript of a recording, which is empty unless the recording has completed.
   * @throws {LibraryError} as `require`
   */
  transcriptOf(viewer: Viewer, recording: Recording): Transcript {
    requireAccess(viewer, recording);
    return new Transcript(this.#services.store, recording);
  }

  /** Returns up to `limit` recordings that the viewer may see, newest first. */
  list(viewer: Viewer, filter: RecordingFilter, limit: number): Recording[] {
    const { recordings } = this.#services;
    const several = viewer.kind === "person" ? accountsOf(viewer, filter) : null;
    if (several === null) return recordings.list({ ...filter, ...ownerOf(viewer) }, limit);
    // The index orders the recordings of one account, so those of several accounts are merged from one list each.
    return several
      .flatMap((accountId) => recordings.list({ ...filter, accountId }, limit))
      .sort((one, other) => (one.id < other.id ? 1 : -1))
      .slice(0, limit);
  }

  /**
   * Searches names and transcripts of the recordings that the viewer may see, newest first.
   * @param before end of the previous page; null for the first
   */
  async search(
    viewer: Viewer,
    query: SearchQuery,
    filter: Pick<RecordingFilter, "accountId" | "workspaceId" | "statuses" | "tag">,
    before: number | null,
    limit: number,
  ): Promise<SearchPage> {
    const owned = { ...filter, ...ownerOf(viewer) };
    return await searchRecordings(this.#services.store, query, visibleAccounts(viewer), owned, before, limit);
  }

  /** Returns the tags of a recording, sorted. */
  tagsOf(viewer: Viewer, recording: Recording): string[] {
    requireAccess(viewer, recording);
    return recordingTags.readTags(this.#services.store, recording.id);
  }

  /** Replaces the tags of a recording, in any state. @throws {LibraryError} as `requireChangeable` */
  setTags(viewer: Editor, id: string, tags: ReadonlySet<string>): void {
    transact(this.#services.store, (writer) => {
      const recording = this.requireChangeable(viewer, id);
      recordingTags.replaceTags(writer, recording, tags);
      this.#audit(writer, viewer, "recordings.tag", id, { tags: String(tags.size) });
    });
  }

  /** Returns how many parts of a recording each speech model recognized, and each machine of a fleet computed. */
  partsOf(viewer: Viewer, recording: Recording) {
    requireAccess(viewer, recording);
    const { rows } = this.#services.recordings;
    return { models: rows.modelsOf(recording.id), machines: rows.machinesOf(recording.id) };
  }

  /**
   * Deletes a recording that has ended.
   * @throws {LibraryError} as `requireChangeable`; `held`, `still_open`
   */
  async remove(viewer: Viewer, id: string): Promise<void> {
    this.requireChangeable(viewer, id);
    const audited = (writer: Writer) => this.#audit(writer, viewer, "recordings.delete", id);
    if (await removeEnded(this.#services, id, audited)) return;
    const { heldAt, status } = this.require(viewer, id);
    throw new LibraryError(heldAt === null ? { kind: "still_open", status } : { kind: "held" });
  }

  /**
   * Cancels a queued or processing recording, which becomes failed, or the open rerun of a completed one, which stays as
   * it is, and refunds the charge. A server that processes it stops within two seconds, at once after
   * `RecordingQueue.followCommands`.
   * @throws {LibraryError} as `require`; `not_allowed` for a person who may not; `has_ended`
   */
  async cancel(viewer: Viewer, id: string): Promise<void> {
    const { recordings } = this.#services;
    const { status } = this.require(viewer, id);
    const rerun = recordings.reruns.of(id);
    if (rerun !== null) requireChange(viewer);
    else if (viewer.kind === "person") throw new LibraryError({ kind: "not_allowed" });
    const cancelled = rerun?.id ?? id;
    const audited = (writer: Writer) => this.#audit(writer, viewer, "recordings.cancel", id);
    if (!cancelOpen(this.#services, cancelled, audited)) throw new LibraryError({ kind: "has_ended", status });
    while (recordings.rows.removeWork(cancelled, ROWS_AT_ONCE)) await yieldToEventLoop();
  }

  /**
   * Processes a completed recording again. Until that is completed, and if it fails, the transcript stays as it is.
   * @param also runs further statements in the transaction that creates the rerun
   * @throws {LibraryError} as `requireChangeable`; `not_completed`, `not_processed`
   */
  async processAgain(
    viewer: Editor,
    id: string,
    { recordingsPerAccount, ...choice }: Rerun,
    also: (writer: Writer, rerun: Recording) => void = () => {},
  ): Promise<Recording> {
    const { recordings, dataDirectory, store } = this.#services;
    const { status, accountId } = this.requireChangeable(viewer, id);
    if (status !== "completed") throw new LibraryError({ kind: "not_completed", status });
    const refused = (reason: RerunRefusal) => new LibraryError({ kind: "not_processed", reason });
    if (!(await dataDirectory.audio.has(id))) throw refused("no_audio");
    const request = { ...choice, author: viewer.actor };
    const check = (writer: Writer) => {
      const own = parseAccountLimits(getAccount(store, accountId)?.limits ?? "{}").recordings_per_account;
      const open = recordings.open.countOf(accountId) + recordings.reruns.countOf(accountId);
      if (open >= (own ?? recordingsPerAccount)) throw refused("no_place");
      const { speechModel: model, pinnedLanguage: language } = choice;
      this.#audit(writer, viewer, "recordings.process", id, { model, language });
    };
    const rerun = recordings.reruns.create(id, request, check, also);
    if (rerun === null) throw refused("already_open");
    return rerun;
  }

  /**
   * Returns the rerun of a recording that is open, or has failed; null for none.
   * @throws {LibraryError} as `require`
   */
  rerunOf(viewer: Viewer, recording: Recording): Recording | null {
    requireAccess(viewer, recording);
    return this.#services.recordings.reruns.of(recording.id);
  }

  /**
   * Protects a recording from deletion, or ends the protection.
   * @throws {LibraryError} as `require`
   */
  hold(operator: Operator, id: string, isHeld: boolean): void {
    this.require(operator, id);
    const action = isHeld ? "recordings.hold" : "recordings.release";
    this.#services.recordings.setHold(id, isHeld, (writer) => this.#audit(writer, operator, action, id));
  }

  #audit(writer: Writer, viewer: Viewer, action: string, id: string, details?: Record<string, string | null>) {
    auditAs(viewer, this.#services.now(), writer, action, id, details);
  }
}
