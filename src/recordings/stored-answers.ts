import { and, eq, gt, lte } from "drizzle-orm";
import { type Store, tables, type Writer } from "../storage/index.ts";

/** The owner of an Idempotency-Key. */
export interface IdempotencyScope {
  readonly accountId: string;
  /** Workspace of the API key; null for none. */
  readonly workspaceId: string | null;
  readonly key: string;
}

/** The first answer to a create request. */
export interface StoredAnswer {
  /** SHA-256 of the request body's contents. */
  readonly fingerprint: string;
  readonly status: number;
  /** Null if the recording was deleted since. */
  readonly body: string | null;
  readonly recordingId: string | null;
}

const STORED_MILLISECONDS = 24 * 3_600_000;

/** The first answers to create requests with an Idempotency-Key, stored for 24 hours. */
export class StoredAnswers {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  find(scope: IdempotencyScope, now: number): StoredAnswer | null {
    const { keptAnswers } = tables;
    return (
      this.#store
        .select({
          fingerprint: keptAnswers.fingerprint,
          status: keptAnswers.status,
          body: keptAnswers.body,
          recordingId: keptAnswers.recordingId,
        })
        .from(keptAnswers)
        .where(and(matches(scope), gt(keptAnswers.createdAt, now - STORED_MILLISECONDS)))
        .get() ?? null
    );
  }

  /** Stores an answer; pass a transaction's writer to store it together with the change that it describes. */
  keep(
    scope: IdempotencyScope,
    answer: StoredAnswer,
    now: number,
    writer: Pick<Writer, "insert" | "delete"> = this.#store,
  ): void {
    const { keptAnswers } = tables;
    writer
      .delete(keptAnswers)
      .where(lte(keptAnswers.createdAt, now - STORED_MILLISECONDS))
      .run();
    writer
      .insert(keptAnswers)
      .values({ ...scope, workspaceId: scope.workspaceId ?? "", ...answer, createdAt: now })
      .run();
  }
}

/** Clears the body of the answer that describes a recording; its key gives 404 from then on. */
export function clearAnswer(writer: Writer, recordingId: string): void {
  const { keptAnswers } = tables;
  writer.update(keptAnswers).set({ body: null }).where(eq(keptAnswers.recordingId, recordingId)).run();
}

function matches({ accountId, workspaceId, key }: IdempotencyScope) {
  const { keptAnswers } = tables;
  return and(
    eq(keptAnswers.accountId, accountId),
    eq(keptAnswers.workspaceId, workspaceId ?? ""),
    eq(keptAnswers.key, key),
  );
}
