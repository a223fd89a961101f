import type { Queue, QueueAddOptions } from "p-queue";

/** A recording that waits for a slot. */
export interface Waiting extends QueueAddOptions {
  readonly recordingId: string;
  readonly accountId: string;
  /** When it was created, in milliseconds since the epoch. */
  readonly waitingSince: number;
  /** It had begun when an earlier server ended. */
  readonly resumed: boolean;
}

/** What the order depends on beside the waiting recordings; asked anew for each free slot, so that a change counts at once. */
export interface FairnessRules {
  priorityOf(accountId: string): number;
  runningOf(accountId: string): number;
  now(): number;
}

type Run = () => Promise<unknown>;
interface Entry {
  readonly run: Run;
  readonly waiting: Waiting;
}

/** For every so long that a recording waits it gains a step of priority, so that none waits for ever. */
const stepMilliseconds = 10 * 60_000;

/**
 * The order of waiting recordings: what had begun before a restart; then the account's priority, plus a step for every ten
 * minutes of waiting; then the account with fewer running; then first come, first served. A free slot looks at all that
 * wait, which is a few per account.
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
      const ranked = this.#entries.map((entry) => ({ entry, rank: rank(entry.waiting, rules) }));
      const [first] = ranked.sort((a, b) => compare(a.rank, b.rank));
      if (first === undefined) return undefined;
      this.#entries = this.#entries.filter((entry) => entry !== first.entry);
      return first.entry.run;
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
 * Those that wait, in the order in which they would begin if no other came and none ended; each that begins counts as running
 * for its account.
 * @param most how many to tell at most
 */
export function orderOf(waiting: readonly Waiting[], rules: FairnessRules, most: number): Waiting[] {
  const begun = new Map<string, number>();
  const runningOf = (accountId: string) => rules.runningOf(accountId) + (begun.get(accountId) ?? 0);
  const sorted = (some: readonly Waiting[]) =>
    some
      .map((each) => ({ each, rank: rank(each, { ...rules, runningOf }) }))
      .sort((a, b) => compare(a.rank, b.rank))
      .map(({ each }) => each);
  // Which of an account's is first does not depend on how many it has running, so only the first of each are compared.
  const lines = [...Map.groupBy(waiting, ({ accountId }) => accountId).values()].map(sorted);
  const order: Waiting[] = [];
  while (order.length < most) {
    const [first] = sorted(lines.flatMap((line) => line[0] ?? []));
    if (first === undefined) break;
    lines.find((line) => line[0] === first)?.shift();
    begun.set(first.accountId, (begun.get(first.accountId) ?? 0) + 1);
    order.push(first);
  }
  return order;
}

/** Smaller goes first, number by number. */
function rank(waiting: Waiting, rules: FairnessRules): number[] {
  // A clock that was set back takes no step away.
  const steps = Math.max(0, Math.floor((rules.now() - waiting.waitingSince) / stepMilliseconds));
  return [
    waiting.resumed ? 0 : 1,
    -(rules.priorityOf(waiting.accountId) + steps),
    rules.runningOf(waiting.accountId),
    waiting.waitingSince,
  ];
}

function compare(a: readonly number[], b: readonly number[]): number {
  for (let place = 0; place < a.length; place++) {
    const difference = (a[place] ?? 0) - (b[place] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
