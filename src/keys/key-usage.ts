import { eq } from "drizzle-orm";
import { type Store, tables } from "../database/index.ts";

/** Buffer of the times at which keys were last used. `flush` writes them together instead of one for each request. */
export class KeyUsage {
  readonly #store: Store;
  readonly #pending = new Map<string, number>();

  constructor(store: Store) {
    this.#store = store;
  }

  record(keyId: string, now: number): void {
    this.#pending.set(keyId, now);
  }

  flush(): void {
    const pending = [...this.#pending];
    if (pending.length === 0) return;
    this.#store.transaction((transaction) => {
      for (const [id, lastUsedAt] of pending) {
        transaction.update(tables.apiKeys).set({ lastUsedAt }).where(eq(tables.apiKeys.id, id)).run();
      }
    });
    // Cleared after the write, so that times which a full disk rejects are written later.
    this.#pending.clear();
  }
}
