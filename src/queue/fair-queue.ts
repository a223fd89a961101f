/** A recording that waits for a slot, or for its download. */
export interface Waiting {
  readonly recordingId: string;
  readonly accountId: string;
  /** Creation time, in milliseconds since the epoch; of a link that met trouble of the machine, the end of its pause. */
  readonly createdAt: number;
  /** Start of the waiting time, which is later than the creation after a suspension or a download. */
  readonly waitingSince: number;
  /** Whether its processing had started before an earlier server ended, or before the machine could not work. */
  readonly resumed: boolean;
}

/** The other inputs of the order. They are evaluated each time, so that a change takes effect at once. */
export interface FairnessRules {
  /** Returns the number of recordings processed at once. */
  slots(): number;
  priorityOf(accountId: string): number;
  runningOf(accountId: string): number;
  /** Returns when an account's last recording started, as a number that increases with each start; 0 for none. */
  lastStartOf(accountId: string): number;
  now(): number;
}

/** Waiting time for which a recording gains one step of priority, so that none waits for ever. */
const PRIORITY_STEP_MILLISECONDS = 10 * 60_000;

/**
 * Returns waiting recordings in the order in which they start if no other is added and none ends. Each account competes
 * with its first recording: one that had started before a restart, else the oldest. Among these, the criteria are:
 *
 * 1. Its account does not take the last slot: no account holds all slots while another's recording waits.
 * 2. It had started before a restart.
 * 3. It has the highest priority: its account's, plus a step for every ten minutes of waiting, up to the highest
 *    priority of a waiting account. Waiting therefore makes up for a lower priority, and never for a fair share.
 * 4. Its account has the fewest running recordings. Each recording of the order counts as running after its start.
 * 5. Its account's last start is the longest ago.
 * 6. It is the oldest.
 *
 * @param limit maximum number of recordings returned
 */
export function orderOf(waiting: readonly Waiting[], given: FairnessRules, limit: number): Waiting[] {
  const { rules, start } = simulation(given);
  const ofAccounts = [...Map.groupBy(waiting, ({ accountId }) => accountId).values()].map((own) =>
    own.toSorted((a, b) => compare([a.resumed ? 0 : 1, a.createdAt], [b.resumed ? 0 : 1, b.createdAt])),
  );
  const order: Waiting[] = [];
  while (order.length < limit) {
    const heads = ofAccounts.flatMap((own) => own[0] ?? []);
    const highest = Math.max(...heads.map(({ accountId }) => rules.priorityOf(accountId)));
    const ranked = heads.map((head) => ({ head, rank: rankOf(head, rules, highest) }));
    const [first] = ranked.sort((a, b) => compare(a.rank, b.rank));
    if (first === undefined) break;
    ofAccounts.find((own) => own[0] === first.head)?.shift();
    start(first.head.accountId);
    order.push(first.head);
  }
  return order;
}

/**
 * Returns the account that must release a slot for a waiting recording, if there is one. Candidates hold at least two
 * more slots than the waiting account has running. They also hold all slots, or have no higher priority than the
 * recording. The candidate with the most slots is returned. Each suspension equalizes the shares, so the series ends.
 * @param staying slots that each account holds and is not already leaving
 */
function overfullAccount(waiting: Waiting, staying: ReadonlyMap<string, number>, rules: FairnessRules): string | null {
  const own = rules.runningOf(waiting.accountId);
  const priority = rules.priorityOf(waiting.accountId) + stepsOf(waiting, rules);
  const [most] = [...staying]
    .filter(([accountId, held]) => {
      if (accountId === waiting.accountId || held < own + 2) return false;
      return held >= rules.slots() || rules.priorityOf(accountId) <= priority;
    })
    .sort(([, a], [, b]) => b - a);
  return most?.[0] ?? null;
}

/**
 * Returns the running recording that is suspended next, because its account holds more than its share of the slots while
 * another account's recording waits; null if none is. Of the account's recordings it is the one that started last, so
 * that its first ones are not delayed.
 * @param holders running recordings that hold a slot and are not already leaving it, in the order of their starts
 */
export function holderToSuspend<H extends { readonly accountId: string }>(
  holders: readonly H[],
  waiting: readonly Waiting[],
  rules: FairnessRules,
): H | null {
  // No slot is free if more recordings run than there are slots, because the number of slots was reduced.
  const free = Math.max(0, rules.slots() - holders.length);
  const held = new Map<string, number>();
  // Among accounts with equally many slots, the one that started a recording last comes first.
  for (const { accountId } of holders.toReversed()) held.set(accountId, (held.get(accountId) ?? 0) + 1);
  if (Math.max(0, ...held.values()) < 2) return null;
  // The slots that suspended recordings are leaving go to the first recordings of the order.
  const order = orderOf(waiting, rules, free + 1);
  const next = order[free];
  if (next === undefined) return null;
  const begin = order.slice(0, free);
  const runningOf = (account: string) =>
    rules.runningOf(account) + begin.filter(({ accountId }) => accountId === account).length;
  const account = overfullAccount(next, held, { ...rules, runningOf });
  return holders.findLast(({ accountId }) => accountId === account) ?? null;
}

/** Maximum number of concurrent downloads of one account, as the API contract states. */
const MAX_DOWNLOADS_PER_ACCOUNT = 2;
/**
 * Maximum number of concurrent downloads of all accounts. Each holds a connection, a file and some buffers. The second
 * half is for accounts without a download, so it takes 24 accounts to make another one wait.
 */
export const MAX_DOWNLOADS = 32;

/** Returns the accounts that may not start another download now. @param running the downloads in progress */
export function accountsWithAllDownloads(running: readonly { readonly accountId: string }[]): ReadonlySet<string> {
  const most = running.length < MAX_DOWNLOADS / 2 ? MAX_DOWNLOADS_PER_ACCOUNT : 1;
  const ofAccounts = Map.groupBy(running, ({ accountId }) => accountId);
  return new Set([...ofAccounts].filter(([, own]) => own.length >= most).map(([accountId]) => accountId));
}

/** Returns rules that also count simulated starts. Values that do not change meanwhile are read only once. */
function simulation(given: FairnessRules) {
  const starts = new Map<string, { count: number; last: number }>();
  const priorities = new Map<string, number>();
  let last = Number.MAX_SAFE_INTEGER / 2;
  const rules: FairnessRules = {
    slots: () => given.slots(),
    now: () => given.now(),
    priorityOf(accountId) {
      const priority = priorities.get(accountId) ?? given.priorityOf(accountId);
      priorities.set(accountId, priority);
      return priority;
    },
    runningOf: (accountId) => given.runningOf(accountId) + (starts.get(accountId)?.count ?? 0),
    lastStartOf: (accountId) => starts.get(accountId)?.last ?? given.lastStartOf(accountId),
  };
  const start = (accountId: string) => {
    starts.set(accountId, { count: (starts.get(accountId)?.count ?? 0) + 1, last: ++last });
  };
  return { rules, start };
}

/** Returns the rank as a list of numbers, compared one by one; the smaller rank goes first. */
function rankOf(waiting: Waiting, rules: FairnessRules, highestPriority: number): number[] {
  const { accountId, resumed, createdAt } = waiting;
  const running = rules.runningOf(accountId);
  const slots = rules.slots();
  return [
    // A single slot cannot be shared; the other criteria serve accounts round robin.
    slots > 1 && running >= slots - 1 ? 1 : 0,
    resumed ? 0 : 1,
    -Math.min(highestPriority, rules.priorityOf(accountId) + stepsOf(waiting, rules)),
    running,
    rules.lastStartOf(accountId),
    createdAt,
  ];
}

/** Returns the steps of priority gained by waiting; never negative if the clock was set back. */
function stepsOf({ waitingSince }: Waiting, rules: FairnessRules): number {
  return Math.max(0, Math.floor((rules.now() - waitingSince) / PRIORITY_STEP_MILLISECONDS));
}

function compare(a: readonly number[], b: readonly number[]): number {
  for (let place = 0; place < a.length; place++) {
    const difference = (a[place] ?? 0) - (b[place] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
