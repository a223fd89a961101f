import type { Queue, QueueAddOptions } from "p-queue";

/** A recording that waits for a slot. */
export interface Waiting extends QueueAddOptions {
  readonly recordingId: string;
  readonly accountId: string;
  /** When it was created, in milliseconds since the epoch. */
  readonly createdAt: number;
  /** Since when it waits: one that was parked, or whose link was fetched, began to wait later than it was created. */
  readonly waitingSince: number;
  /** Its processing had begun when an earlier server ended, or when the machine could not work. */
  readonly resumed: boolean;
}

/** What the order depends on besides the waiting recordings; asked anew each time, so that a change counts at once. */
export interface FairnessRules {
  /** Recordings that are processed at once. */
  slots(): number;
  priorityOf(accountId: string): number;
  runningOf(accountId: string): number;
  /** When an account's last recording began: a number that grows with each; 0 for none. */
  lastBegunOf(accountId: string): number;
  now(): number;
}

type Run = () => Promise<unknown>;
interface Entry {
  readonly run: Run;
  readonly waiting: Waiting;
}

/** A recording gains a step of priority for each such span that it waits, so that none waits for ever. */
const stepMilliseconds = 10 * 60_000;

/**
 * The order of waiting recordings. Each account competes with its first one: what had begun before a restart, then the oldest.
 * Of these goes first
 *
 * 1. one whose account would not hold the last slot: no account holds all slots while another's recording waits;
 * 2. one that had begun before a restart;
 * 3. the one with the highest priority: its account's, plus a step for every ten minutes of waiting, up to the highest
 *    priority of an account that waits. Waiting therefore makes up for a lower priority, and never for a fair share;
 * 4. the one whose account has fewer running;
 * 5. the one whose account began one longest ago;
 * 6. the oldest.
 */
export function fairQueueClass(rules: FairnessRules): new () => Queue<Run, Waiting> {
  return class FairQueue implements Queue<Run, Waiting> {
    #entries: Entry[] = [];

    get size(): number {
      return this.#entries.length;
    }

    enqueue(run: Run, options?: Partial<Waiting>): void {
      this.#entries.push({ run, waiting: options as Waiting });
    }

    dequeue(): Run | undefined {
      const waiting = this.#entries.map((entry) => entry.waiting);
      const [first] = orderOf(waiting, rules, 1);
      const place = this.#entries.findIndex((entry) => entry.waiting === first);
      return this.#entries.splice(place, place < 0 ? 0 : 1)[0]?.run;
    }

    filter(): Run[] {
      return this.#entries.map((entry) => entry.run);
    }

    setPriority(): void {
      throw new Error("a recording's place follows from its account and its age");
    }

    remove(idOrRun: string | Run): void {
      this.#entries = this.#entries.filter(({ run, waiting }) => run !== idOrRun && waiting.recordingId !== idOrRun);
    }
  };
}

/**
 * Returns waiting recordings in the order in which they would begin if no other came and none ended; each that begins counts
 * as running for its account.
 * @param most how many to return at most
 */
export function orderOf(waiting: readonly Waiting[], given: FairnessRules, most: number): Waiting[] {
  const { rules, begins } = simulation(given);
  const ofAccounts = [...Map.groupBy(waiting, ({ accountId }) => accountId).values()].map((own) =>
    own.toSorted((a, b) => compare([a.resumed ? 0 : 1, a.createdAt], [b.resumed ? 0 : 1, b.createdAt])),
  );
  const order: Waiting[] = [];
  while (order.length < most) {
    const heads = ofAccounts.flatMap((own) => own[0] ?? []);
    const highest = Math.max(...heads.map(({ accountId }) => rules.priorityOf(accountId)));
    const ranked = heads.map((head) => ({ head, rank: rankOf(head, rules, highest) }));
    const [first] = ranked.sort((a, b) => compare(a.rank, b.rank));
    if (first === undefined) break;
    ofAccounts.find((own) => own[0] === first.head)?.shift();
    begins(first.head.accountId);
    order.push(first.head);
  }
  return order;
}

/**
 * Returns the account that has to leave a slot to a waiting recording: the one with the most slots, where it has at least two
 * more than the recording's account, and all of them or no higher priority. Parking for it makes the shares more equal each
 * time, so it comes to an end.
 * @param staying slots that each account holds and is not leaving already
 */
export function overfullAccount(
  waiting: Waiting,
  staying: ReadonlyMap<string, number>,
  rules: FairnessRules,
): string | null {
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

/** The rules, with recordings that begin only in thought; what does not change meanwhile is asked once. */
function simulation(given: FairnessRules) {
  const begun = new Map<string, { count: number; last: number }>();
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
    runningOf: (accountId) => given.runningOf(accountId) + (begun.get(accountId)?.count ?? 0),
    lastBegunOf: (accountId) => begun.get(accountId)?.last ?? given.lastBegunOf(accountId),
  };
  const begins = (accountId: string) => {
    begun.set(accountId, { count: (begun.get(accountId)?.count ?? 0) + 1, last: ++last });
  };
  return { rules, begins };
}

/** Smaller goes first, number by number. */
function rankOf(waiting: Waiting, rules: FairnessRules, highestPriority: number): number[] {
  const { accountId, resumed, createdAt } = waiting;
  const running = rules.runningOf(accountId);
  const slots = rules.slots();
  return [
    // With a single slot there is nothing to share; the rest of the order has accounts take turns.
    slots > 1 && running >= slots - 1 ? 1 : 0,
    resumed ? 0 : 1,
    -Math.min(highestPriority, rules.priorityOf(accountId) + stepsOf(waiting, rules)),
    running,
    rules.lastBegunOf(accountId),
    createdAt,
  ];
}

/** Steps of priority gained by waiting. A clock that was set back takes none away. */
function stepsOf({ waitingSince }: Waiting, rules: FairnessRules): number {
  return Math.max(0, Math.floor((rules.now() - waitingSince) / stepMilliseconds));
}

function compare(a: readonly number[], b: readonly number[]): number {
  for (let place = 0; place < a.length; place++) {
    const difference = (a[place] ?? 0) - (b[place] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
