import { eq } from "drizzle-orm";
import { type Store, tables } from "../database/index.ts";

const { serving } = tables;

/** What a database knows about the server that may serve it. */
export interface Serving {
  /** Increased by each promotion. */
  readonly epoch: number;
  /** Id of the folder that fences the servers, or `broker`; null without one. */
  readonly fence: string | null;
  /** Id that all copies of the database have. */
  readonly database: string;
}

export function readServing(store: Store): Serving {
  const { epoch, fence, database } = serving;
  const known = store.select({ epoch, fence, database }).from(serving).get();
  if (known === undefined) throw new Error("the database does not know which server may serve it");
  return known;
}

export function storeServing(store: Store, values: Partial<Serving>): void {
  store.update(serving).set(values).where(eq(serving.id, 1)).run();
}
