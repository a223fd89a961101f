import { and, eq, gt, lte } from "drizzle-orm";
import { type Store, tables, type Writer } from "../database/index.ts";

/** The owner of an Idempotency-Key. */
export interface IdempotencyScope {
  readonly accountId: string;
  /** Workspace of the API key; null for none. */
  readonly workspaceId: string | null;
  readonly key: string;
}

/** The first answer to a create request. */
export type StoredAnswer = Pick<
  typeof tables.storedAnswers.$inferSelect,
  "fingerprint" | "status" | "body" | "recordingId"
>;

/** How long the first answer to a create is stored, and replayed. */
const STORED_MILLISECONDS = 24 * 3_600_000;

/** Returns the answer that was stored within the last 24 hours; null if there is none. */
export function findAnswer(store: Store, scope: IdempotencyScope, now: number): StoredAnswer | null {
  const { fingerprint, status, body, recordingId, createdAt } = tables.storedAnswers;
  return (
    store
      .select({ fingerprint, status, body, recordingId })
      .from(tables.storedAnswers)
      .where(and(matches(scope), gt(createdAt, now - STORED_MILLISECONDS)))
      .get() ?? null
  );
}

/** Stores the first answer to a create, with a transaction's writer together with the change that it describes. */
export function storeAnswer(
  writer: Pick<Writer, "insert" | "delete">,
  scope: IdempotencyScope,
  answer: StoredAnswer,
  now: number,
): void {
  const { storedAnswers } = tables;
  writer
    .delete(storedAnswers)
    .where(lte(storedAnswers.createdAt, now - STORED_MILLISECONDS))
    .run();
  writer
    .insert(storedAnswers)
    .values({ ...scope, workspaceId: scope.workspaceId ?? "", ...answer, createdAt: now })
    .run();
}

/** Clears the body of the answer that describes a recording; its key gives 404 from then on. */
export function clearAnswer(writer: Writer, recordingId: string): void {
  const { storedAnswers } = tables;
  writer.update(storedAnswers).set({ body: null }).where(eq(storedAnswers.recordingId, recordingId)).run();
}

function matches({ accountId, workspaceId, key }: IdempotencyScope) {
  const { storedAnswers } = tables;
  return and(
    eq(storedAnswers.accountId, accountId),
    eq(storedAnswers.workspaceId, workspaceId ?? ""),
    eq(storedAnswers.key, key),
  );
}
