import { and, count, desc, eq, inArray, isNotNull, isNull, sql } from "drizzle-orm";
import { type Recording, type Store, tables } from "../database/index.ts";
import { isOpen, OPEN_STATES, type Status } from "./states.ts";

type OpenState = (typeof OPEN_STATES)[number];

/** Maximum number of ids in one statement. */
const IDS_AT_ONCE = 500;
/** Recordings from which the duration of others is estimated. */
const LATEST_RECORDINGS = 100;
/** Duration of a recording, and bytes of one second, before any recording was decoded: 128 kbit/s. */
const USUAL_SECONDS = 600;
const USUAL_BYTES_PER_SECOND = 16_000;

/** The records of recordings that have not ended: `queued` and `processing`. */
export class OpenRecordings {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Returns whether each of these recordings is open. Deleted and unknown recordings are left out. */
  areOpen(ids: readonly string[]): Map<string, boolean> {
    const { recordings } = tables;
    const found = new Map<string, boolean>();
    for (let from = 0; from < ids.length; from += IDS_AT_ONCE) {
      const rows = this.#store
        .select({ id: recordings.id, status: recordings.status })
        .from(recordings)
        .where(and(inArray(recordings.id, ids.slice(from, from + IDS_AT_ONCE)), isNull(recordings.deletedAt)))
        .all();
      for (const { id, status } of rows) found.set(id, isOpen(status));
    }
    return found;
  }

  /** Counts open recordings by state. */
  counts(): { queued: number; processing: number } {
    const inState = (status: Status) =>
      this.#store.select({ open: count() }).from(tables.recordings).where(eq(tables.recordings.status, status)).get();
    return { queued: inState("queued")?.open ?? 0, processing: inState("processing")?.open ?? 0 };
  }

  /** Counts open recordings by state and by the priority of their accounts. */
  countsByPriority(): { status: OpenState; priority: number; count: number }[] {
    const { recordings, accounts } = tables;
    const inState = (status: OpenState) =>
      this.#store
        .select({ priority: accounts.priority, count: count() })
        .from(recordings)
        .innerJoin(accounts, eq(accounts.id, recordings.accountId))
        .where(eq(recordings.status, status))
        .groupBy(accounts.priority)
        .all()
        .map((row) => ({ status, ...row }));
    return OPEN_STATES.flatMap(inState);
  }

  /**
   * Returns since when the longest-waiting recording is `queued`, in milliseconds since the epoch; null if none is. The
   * waiting time of a decoded recording starts when it was requeued.
   */
  longestQueuedSince(): number | null {
    const { recordings } = tables;
    const { durationSeconds, createdAt, updatedAt } = recordings;
    const since = sql<number | null>`min(CASE WHEN ${durationSeconds} IS NULL THEN ${createdAt} ELSE ${updatedAt} END)`;
    return this.#store.select({ since }).from(recordings).where(eq(recordings.status, "queued")).get()?.since ?? null;
  }

  /**
   * Returns the seconds of audio in open recordings that are not processed yet. The duration of a recording that was not
   * decoded yet is estimated by its size, or else by the average, of the latest completed recordings.
   */
  waitingAudioSeconds(): number {
    const { recordings } = tables;
    const latest = this.#store
      .select({ seconds: recordings.durationSeconds, bytes: recordings.sizeBytes })
      .from(recordings)
      .where(eq(recordings.status, "completed"))
      .orderBy(desc(recordings.id))
      .limit(LATEST_RECORDINGS)
      .all()
      .filter(({ seconds, bytes }) => seconds !== null && bytes !== null && bytes > 0);
    const totalOf = (values: readonly (number | null)[]) =>
      values.reduce<number>((sum, value) => sum + (value ?? 0), 0);
    const [seconds, bytes] = [totalOf(latest.map((row) => row.seconds)), totalOf(latest.map((row) => row.bytes))];
    const secondsOfByte = bytes === 0 ? 1 / USUAL_BYTES_PER_SECOND : seconds / bytes;
    const average = latest.length === 0 ? USUAL_SECONDS : seconds / latest.length;
    const { durationSeconds, sizeBytes, percent } = recordings;
    const duration = sql`coalesce(${durationSeconds}, ${sizeBytes} * ${secondsOfByte}, ${average})`;
    const waiting = sql<number | null>`sum(${duration} * (100 - coalesce(${percent}, 0)) / 100.0)`;
    const row = this.#store.select({ waiting }).from(recordings).where(inArray(recordings.status, OPEN_STATES)).get();
    return Math.max(0, row?.waiting ?? 0);
  }

  /** Counts an account's open recordings without reruns, which its clients do not see. */
  countOf(accountId: string): number {
    const { recordings } = tables;
    const row = this.#store
      .select({ open: count() })
      .from(recordings)
      .where(
        and(eq(recordings.accountId, accountId), inArray(recordings.status, OPEN_STATES), isNull(recordings.rerunOf)),
      )
      .get();
    return row?.open ?? 0;
  }

  /** Returns all open recordings, by state, oldest first. */
  list(): { processing: Recording[]; queued: Recording[] } {
    const inState = (status: Status) =>
      this.#store
        .select()
        .from(tables.recordings)
        .where(eq(tables.recordings.status, status))
        .orderBy(tables.recordings.id)
        .all();
    return { processing: inState("processing"), queued: inState("queued") };
  }

  /** Returns the speech models that open recordings were created for. */
  models(): string[] {
    const { recordings } = tables;
    const rows = this.#store
      .selectDistinct({ model: recordings.speechModel })
      .from(recordings)
      .where(and(inArray(recordings.status, OPEN_STATES), isNotNull(recordings.speechModel)))
      .all();
    return rows.flatMap(({ model }) => model ?? []);
  }
}
