import { asc, desc, eq, lt, lte } from "drizzle-orm";
import { type Store, tables, type Writer } from "../database/index.ts";

/** The end of a recording that is not delivered yet. */
type StoredEnd = typeof tables.outbox.$inferSelect;

/** How a recording ended. `cancelled`: a command ended it while it was queued or processed. */
export type EndOutcome = StoredEnd["outcome"];

const MAX_AGE_MILLISECONDS = 7 * 86_400_000;
const MAX_ENDS = 10_000;
const ENDS_AT_ONCE = 100;

/** Stores the end of a recording in the transaction that ends it, so that no crash can lose it. */
export function storeEnd(writer: Writer, recordingId: string, outcome: EndOutcome, now: number): void {
  writer.insert(tables.outbox).values({ recordingId, outcome, at: now }).run();
}

/** Returns some ends that are not delivered yet, oldest first. */
export function undeliveredEnds(store: Store): StoredEnd[] {
  const { outbox } = tables;
  return store.select().from(outbox).orderBy(asc(outbox.position)).limit(ENDS_AT_ONCE).all();
}

/** Forgets an end that is delivered. */
export function forgetEnd(store: Store, { position }: StoredEnd): void {
  store.delete(tables.outbox).where(eq(tables.outbox.position, position)).run();
}

/** Forgets ends that nobody will miss: those of a week ago, and all but the last ten thousand. */
export function trimOutbox(store: Store, now: number): void {
  const { outbox } = tables;
  const [first] = store
    .select({ position: outbox.position })
    .from(outbox)
    .orderBy(desc(outbox.position))
    .limit(1)
    .offset(MAX_ENDS)
    .all();
  if (first !== undefined) store.delete(outbox).where(lte(outbox.position, first.position)).run();
  store
    .delete(outbox)
    .where(lt(outbox.at, now - MAX_AGE_MILLISECONDS))
    .run();
}
