import { and, count, eq, inArray, isNotNull, isNull, sql } from "drizzle-orm";
import { type Recording, type Store, tables } from "../database/index.ts";
import { isOpen, OPEN_STATES, type Status } from "./states.ts";

type OpenState = (typeof OPEN_STATES)[number];

/** Maximum number of ids in one statement. */
const IDS_AT_ONCE = 500;

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
