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
    const { storedAnswers } = tables;
    return (
      this.#store
        .select({
          fingerprint: storedAnswers.fingerprint,
          status: storedAnswers.status,
          body: storedAnswers.body,
          recordingId: storedAnswers.recordingId,
        })
        .from(storedAnswers)
        .where(and(matches(scope), gt(storedAnswers.createdAt, now - STORED_MILLISECONDS)))
        .get() ?? null
    );
  }

  /** Stores an answer; pass a transaction's writer to store it together with the change that it describes. */
  add(
    scope: IdempotencyScope,
    answer: StoredAnswer,
    now: number,
    writer: Pick<Writer, "insert" | "delete"> = this.#store,
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
