/** Maximum number of concurrent downloads of one account, as the API contract states. */
const MOST_PER_ACCOUNT = 2;
/**
 * Maximum number of concurrent downloads of all accounts. Each holds a connection, a file and some buffers. The second
 * half is for accounts without a download, so it takes 24 accounts to make another one wait.
 */
const MOST_DOWNLOADS = 32;

interface Download {
  readonly recordingId: string;
  readonly run: () => Promise<void>;
}

/** Each account's waiting downloads, in order of arrival; the account whose turn is next comes first. */
type Lines = Map<string, readonly Download[]>;

/**
 * Queue of links that wait for their download. The account with fewer downloads goes first; accounts with equally many
 * are served round robin.
 */
export class DownloadQueue {
  readonly #waiting: Lines = new Map();
  readonly #running = new Map<string, number>();
  #total = 0;

  /**
   * Adds a link.
   * @param run downloads the link; called when a place is free, never rejects
   */
  add(accountId: string, recordingId: string, run: () => Promise<void>): void {
    this.#waiting.set(accountId, [...(this.#waiting.get(accountId) ?? []), { recordingId, run }]);
    this.#pump();
  }

  /** Returns the ids of waiting recordings, in the order in which they start if no other is added and none ends. */
  waiting(): string[] {
    const [lines, running] = [new Map(this.#waiting), new Map(this.#running)];
    const ids: string[] = [];
    for (let account = nextAccount(lines, running); account !== null; account = nextAccount(lines, running)) {
      ids.push(...takeTurn(lines, account).map(({ recordingId }) => recordingId));
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

  #pump(): void {
    while (this.#total < MOST_DOWNLOADS) {
      const accountId = nextAccount(this.#waiting, this.#running);
      const most = this.#total < MOST_DOWNLOADS / 2 ? MOST_PER_ACCOUNT : 1;
      if (accountId === null || (this.#running.get(accountId) ?? 0) >= most) return;
      for (const download of takeTurn(this.#waiting, accountId)) void this.#run(accountId, download);
    }
  }

  async #run(accountId: string, { run }: Download): Promise<void> {
    this.#count(accountId, 1);
    await run();
    this.#count(accountId, -1);
    this.#pump();
  }

  #count(accountId: string, change: 1 | -1): void {
    this.#total += change;
    const held = (this.#running.get(accountId) ?? 0) + change;
    if (held === 0) this.#running.delete(accountId);
    else this.#running.set(accountId, held);
  }
}

/** Returns the waiting account with the fewest running downloads; null if none waits. */
function nextAccount(lines: Lines, running: ReadonlyMap<string, number>): string | null {
  let next: string | null = null;
  for (const accountId of lines.keys()) {
    if (next === null || (running.get(accountId) ?? 0) < (running.get(next) ?? 0)) next = accountId;
  }
  return next;
}

/** Removes an account's first download from the queue and moves the account behind all others. */
function takeTurn(lines: Lines, accountId: string): readonly Download[] {
  const [first, ...rest] = lines.get(accountId) ?? [];
  lines.delete(accountId);
  if (rest.length > 0) lines.set(accountId, rest);
  return first === undefined ? [] : [first];
}
