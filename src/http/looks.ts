import PQueue from "p-queue";

/**
 * Number of uploads probed in parallel. A probe takes milliseconds. For a hostile file it takes seconds and memory, up
 * to its limits.
 */
const looksAtOnce = 4;
/** Number of parallel probes per account, so that hostile files of one account leave places to the others. */
const looksOfAccount = 2;

/** Queue of probes of uploads, in order of arrival. Few run in parallel, and fewer per account. */
export class Looks {
  readonly #all = new PQueue({ concurrency: looksAtOnce });
  readonly #byAccount = new Map<string, PQueue>();

  /** Runs a probe when it is the account's turn. */
  async take<T>(accountId: string, look: () => Promise<T>): Promise<T> {
    const own = this.#byAccount.get(accountId) ?? new PQueue({ concurrency: looksOfAccount });
    this.#byAccount.set(accountId, own);
    // The shared queue holds at most `looksOfAccount` probes of an account.
    const looked = own.add(() => this.#all.add(look));
    void own.onIdle().then(() => {
      const isOver = own.size + own.pending === 0 && this.#byAccount.get(accountId) === own;
      if (isOver) this.#byAccount.delete(accountId);
    });
    return await looked;
  }
}
