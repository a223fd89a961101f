import { eq } from "drizzle-orm";
import { type Store, tables } from "../database/index.ts";

const { serving } = tables;

/** What a database knows about the server that may serve it. */
export interface Serving {
  /** Increased by each promotion. */
  readonly epoch: number;
  /** Id of the folder that fences the servers, or `broker`; null without one. */
  readonly fence: string | null;
}

export function readServing(store: Store): Serving {
  return store.select({ epoch: serving.epoch, fence: serving.fence }).from(serving).get() ?? { epoch: 1, fence: null };
}

export function storeServing(store: Store, values: Partial<Serving>): void {
  store.update(serving).set(values).where(eq(serving.id, 1)).run();
}
