import { eq } from "drizzle-orm";
import { type Store, tables } from "../storage/index.ts";

/** Remembers when keys were last used, and writes it down now and then: not once a request. */
export class LastUse {
  readonly #store: Store;
  readonly #pending = new Map<string, number>();

  constructor(store: Store) {
    this.#store = store;
  }

  note(keyId: string, now: number): void {
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
    // Only now: what a full disk does not take is written down later.
    this.#pending.clear();
  }
}
