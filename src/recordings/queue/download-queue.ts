/** Maximum number of concurrent downloads of one account, as the API contract states. */
const MAX_PER_ACCOUNT = 2;
/**
 * Maximum number of concurrent downloads of all accounts. Each holds a connection, a file and some buffers. The second
 * half is for accounts without a download, so it takes 24 accounts to make another one wait.
 */
const MAX_DOWNLOADS = 32;

interface Download {
  readonly recordingId: string;
  readonly run: () => Promise<void>;
}

/** Each account's waiting downloads, in order of arrival; the account whose turn is next comes first. */
type AccountQueues = Map<string, readonly Download[]>;

/**
 * Queue of links that wait for their download. The account with fewer downloads goes first; accounts with equally many
 * are served round robin.
 */
export class DownloadQueue {
  readonly #waiting: AccountQueues = new Map();
  readonly #running = new Map<string, number>();
  #total = 0;

  /**
   * Adds a link.
   * @param run downloads the link; called when a place is free, never rejects
   */
  add(accountId: string, recordingId: string, run: () => Promise<void>): void {
    this.#waiting.set(accountId, [...(this.#waiting.get(accountId) ?? []), { recordingId, run }]);
    this.#startNext();
  }

  /** Returns the ids of waiting recordings, in the order in which they start if no other is added and none ends. */
  waiting(): string[] {
    const [queues, running] = [new Map(this.#waiting), new Map(this.#running)];
    const ids: string[] = [];
    for (let account = nextAccount(queues, running); account !== null; account = nextAccount(queues, running)) {
      ids.push(...takeTurn(queues, account).map(({ recordingId }) => recordingId));
      running.set(account, (running.get(account) ?? 0) + 1);
    }
    return ids;
  }

  /** Removes a waiting recording. */
  remove(accountId: string, recordingId: string): void {
    const rest = (this.#waiting.get(accountId) ?? []).filter((download) => download.recordingId !== recordingId);
    if (rest.length > 0) this.#waiting.set(accountId, rest);
    else this.#waiting.delete(accountId);
  }

  /** Removes all waiting recordings. */
  clear(): void {
    this.#waiting.clear();
  }

  #startNext(): void {
    while (this.#total < MAX_DOWNLOADS) {
      const accountId = nextAccount(this.#waiting, this.#running);
      const limit = this.#total < MAX_DOWNLOADS / 2 ? MAX_PER_ACCOUNT : 1;
      if (accountId === null || (this.#running.get(accountId) ?? 0) >= limit) return;
      for (const download of takeTurn(this.#waiting, accountId)) void this.#run(accountId, download);
    }
  }

  async #run(accountId: string, { run }: Download): Promise<void> {
    this.#count(accountId, 1);
    await run();
    this.#count(accountId, -1);
    this.#startNext();
  }

  #count(accountId: string, change: 1 | -1): void {
    this.#total += change;
    const held = (this.#running.get(accountId) ?? 0) + change;
    if (held === 0) this.#running.delete(accountId);
    else this.#running.set(accountId, held);
  }
}

/** Returns the waiting account with the fewest running downloads; null if none waits. */
function nextAccount(queues: AccountQueues, running: ReadonlyMap<string, number>): string | null {
  let next: string | null = null;
  for (const accountId of queues.keys()) {
    if (next === null || (running.get(accountId) ?? 0) < (running.get(next) ?? 0)) next = accountId;
  }
  return next;
}

/** Removes an account's first download from the queue and moves the account behind all others. */
function takeTurn(queues: AccountQueues, accountId: string): readonly Download[] {
  const [first, ...rest] = queues.get(accountId) ?? [];
  queues.delete(accountId);
  if (rest.length > 0) queues.set(accountId, rest);
  return first === undefined ? [] : [first];
}
