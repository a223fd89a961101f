import { Database } from "bun:sqlite";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { randomNumbers } from "../../harness/random-numbers.ts";
import { generousLimits } from "../../harness/server.ts";
import { quantile } from "../shared/figures.ts";
import { beforeStop } from "../shared/processes.ts";
import { ChangeStream } from "./change-stream.ts";
import { Rounds } from "./rounds.ts";
import { atMost, figure, none, type PartOptions, type Row, row } from "./rows.ts";
import { FETCH_SETTINGS, type SmallRecording, smallRecordings } from "./small-recordings.ts";
import { LEASE_SECONDS, type Loss, StandbyMachines } from "./standby-machines.ts";

/** A plan of disturbances. Half of the takeovers are from servers with `standby.wait`. */
interface StandbyPlan {
  readonly takeovers: number;
  /** Disturbances before each takeover. */
  readonly disturbances: number;
  /** Time after each takeover in which nothing is disturbed, and times are measured. */
  readonly calmMilliseconds: number;
  /** Maximum time between two disturbances. */
  readonly pauseMilliseconds: number;
  /** Maximum duration of a stop, a cut, or a restart. A connection counts as lost after 15 s of silence. */
  readonly outageMilliseconds: number;
  readonly recordings: readonly SmallRecording[];
  readonly isBrief: boolean;
}

/** The plan of scripts/endurance. */
const MANY_TAKEOVERS: StandbyPlan = {
  takeovers: 12,
  disturbances: 4,
  calmMilliseconds: 8_000,
  pauseMilliseconds: 3_000,
  outageMilliseconds: 20_000,
  recordings: smallRecordings,
  isBrief: false,
};

/** Time after which an answered change is on the standby, without `standby.wait`. */
const DELAY_SECONDS = 2;
/** Time from a server's loss to the first answer of the next one, in addition to the lease. */
const TAKEOVER_SECONDS = 30;

/**
 * standby: a server processes five recordings and answers small changes, while server, standby and the connection between
 * them are killed, stopped and cut. Again and again the standby takes over, and the former server becomes its standby.
 */
export async function standby(
  { seed, reportProgress }: Pick<PartOptions, "seed" | "reportProgress">,
  plan = MANY_TAKEOVERS,
): Promise<Row[]> {
  const { recordings, isBrief } = plan;
  const settings = {
    ...{ ...generousLimits, ...FETCH_SETTINGS, TRANSCRIBE_LOG_LEVEL: "debug" },
    TRANSCRIBE_LIMITS_RECORDINGS_PER_ACCOUNT: "1000",
  };
  await using machines = await StandbyMachines.start(settings, true);
  using _ = beforeStop(() => machines[Symbol.asyncDispose]());
  await using rounds = await Rounds.start(machines, { recordings, chunks: isBrief ? 2 : 3, withLanguage: isBrief });
  await using stream = new ChangeStream(machines, randomNumbers(seed + 1));
  const test = new Takeovers(machines, stream, plan, randomNumbers(seed));
  while (test.seconds.length < plan.takeovers) {
    reportProgress(`takeover ${test.seconds.length + 1} of ${plan.takeovers}`);
    await rounds.run(() => test.run(() => rounds.checkDatabase()));
  }
  await stream[Symbol.asyncDispose]();
  await machines.untilFollowing();
  await machines.until(() => namesIn(machines.dataDirectory, "work").length === 0);
  const failedStops = await machines.stop();
  return [...test.rows(seed), ...endRows(machines, rounds, failedStops, test.summary(seed))];
}

class Takeovers {
  /** Seconds of each takeover. */
  readonly seconds: number[] = [];
  readonly #machines: StandbyMachines;
  readonly #stream: ChangeStream;
  readonly #plan: StandbyPlan;
  readonly #random: () => number;
  readonly #done = new Map<string, number>();
  readonly #lost = { waiting: [] as string[], alone: [] as string[], recent: 0, recentWaiting: 0 };

  constructor(machines: StandbyMachines, stream: ChangeStream, plan: StandbyPlan, random: () => number) {
    this.#machines = machines;
    this.#stream = stream;
    this.#plan = plan;
    this.#random = random;
  }

  /** Measures for a while, disturbs, and lets the standby take over. @param whenDown called while the server is down */
  async run(whenDown: () => void): Promise<void> {
    const machines = this.#machines;
    const stream = this.#stream;
    const { disturbances, calmMilliseconds, pauseMilliseconds } = this.#plan;
    await machines.untilFollowing();
    stream.isCalm = true;
    await Bun.sleep(calmMilliseconds);
    stream.isCalm = false;
    await machines.until(() => stream.arrivals.pending === 0);
    for (let count = 0; count < disturbances; count++) {
      await Bun.sleep(this.#random() * pauseMilliseconds);
      await this.#disturb(whenDown);
    }
    const { waits } = machines;
    // Without the setting, what was answered while the standby was away may be missing.
    if (!waits) await this.#untilCaughtUp();
    await Bun.sleep(this.#random() * pauseMilliseconds);
    const loss: Loss = this.#random() < 0.5 ? "killed" : "stopped";
    this.#count(`takeovers from a server that was ${loss}`);
    const { lostAt, seconds } = await machines.takeOver(loss, !waits, () => stream.hold());
    this.seconds.push(seconds);
    const { faults, recent } = await stream.paused(() => stream.losses(waits ? lostAt : lostAt - 1000 * DELAY_SECONDS));
    (waits ? this.#lost.waiting : this.#lost.alone).push(...faults);
    if (waits) this.#lost.recentWaiting += recent;
    else this.#lost.recent += recent;
  }

  summary(seed: number): string {
    const { answered, refused, unanswered } = this.#stream.counts;
    const done = [...this.#done].map(([what, count]) => `${count} ${what}`).join(", ");
    return `${done}; ${answered} changes answered, ${refused} refused, ${unanswered} without an answer; seed ${seed}`;
  }

  rows(seed: number): Row[] {
    const over = this.summary(seed);
    const { waiting, alone, recent, recentWaiting } = this.#lost;
    const { arrivals, answerMilliseconds, unexpected } = this.#stream;
    const delays = arrivals.milliseconds;
    const slowest = Math.max(...delays) / 1000;
    const delay = [0.5, 0.95].map((share) => `${(quantile(delays, share) / 1000).toFixed(2)} s`);
    return [
      none("with standby.wait: answered changes that are missing after a takeover", waiting, over),
      none("with standby.wait: changes answered during the takeover that are missing", recentWaiting, over),
      none(`without: missing changes, answered more than ${DELAY_SECONDS} s before the loss`, alone, over),
      figure(`without: missing changes, answered in the last ${DELAY_SECONDS} s`, String(recent), over),
      none("unexpected answers", unexpected, over),
      row(
        "time until an answered change is on the standby",
        `p50 ${delay[0]}, p95 ${delay[1]}, maximum ${slowest.toFixed(2)} s`,
        `${delays.length} changes, without standby.wait`,
        `${DELAY_SECONDS} s`,
        delays.length > 0 && slowest <= DELAY_SECONDS,
      ),
      ...Object.entries(answerMilliseconds).map(([name, times]) =>
        figure(
          name === "waiting" ? "answer to a correction, with standby.wait" : "answer to a correction, without",
          `p50 ${quantile(times, 0.5).toFixed(0)} ms, p95 ${quantile(times, 0.95).toFixed(0)} ms`,
          `${times.length} corrections`,
        ),
      ),
      atMost(
        "from the loss of a server to the next one's first answer",
        Math.max(...this.seconds),
        TAKEOVER_SECONDS + LEASE_SECONDS,
        `${this.seconds.length} takeovers, median ${quantile(this.seconds, 0.5).toFixed(1)} s; the lease takes ${LEASE_SECONDS} s`,
      ),
    ];
  }

  async #disturb(whenDown: () => void): Promise<void> {
    const { connection } = this.#machines;
    const [choice, machine] = [this.#random(), this.#random() < 0.5 ? ("server" as const) : ("standby" as const)];
    const outage = this.#random() * this.#plan.outageMilliseconds;
    if (choice < 0.4) {
      this.#count(`kills of the ${machine}`);
      await this.#machines.kill(machine, outage / 10, () => machine === "server" && whenDown());
    } else if (choice < 0.6) {
      this.#count(`stops of the ${machine}`);
      await this.#machines.suspend(machine, outage);
    } else {
      const isCut = choice < 0.8;
      this.#count(isCut ? "cuts of the connection" : "times without packets");
      if (isCut) connection.cut();
      else connection.hold();
      await Bun.sleep(outage);
      connection.heal();
    }
  }

  /** Waits until the standby follows, and has what was answered before. */
  async #untilCaughtUp(): Promise<void> {
    await this.#machines.untilFollowing();
    await Bun.sleep(1000 * DELAY_SECONDS);
  }

  #count(what: string): void {
    this.#done.set(what, (this.#done.get(what) ?? 0) + 1);
  }
}

/** Returns the rows about what is there at the end. */
function endRows(machines: StandbyMachines, rounds: Rounds, failedStops: readonly string[], over: string): Row[] {
  const { dataDirectory, pair } = machines;
  using database = new Database(join(dataDirectory, "transcribe.db"), { readonly: true });
  const idsOf = (from: Database) =>
    from
      .query<{ id: string }, []>("SELECT id FROM recordings ORDER BY id")
      .all()
      .map(({ id }) => id);
  const ids = idsOf(database);
  const copied = pair.inCopy((copy, uploads) => ({ ids: idsOf(copy), uploads: uploads.toSorted() }));
  const uploads = namesIn(dataDirectory, "uploads");
  const known = new Set(ids);
  const others = (one: readonly string[], other: readonly string[]) => one.filter((name) => !other.includes(name));
  const isKnown = (path: string) => {
    const [folder, name = ""] = path.split("/");
    return folder === "state" || (folder === "uploads" && known.has(name));
  };
  const difference = [...others(ids, copied.ids), ...others(copied.ids, ids)];
  return [
    ...rounds.rows(over, [], [dataDirectory, pair.standbyDirectory], { isKnown, repeatsParts: true }),
    none("recordings that only one of both databases has at the end", difference, over),
    none(
      "uploads that only one of both has at the end",
      [...others(uploads, copied.uploads), ...others(copied.uploads, uploads)],
      over,
    ),
    none("other files of the standby", filesIn(join(pair.standbyDirectory, "incoming")), over),
    none("machines whose last stop failed", failedStops, over),
  ];
}

function namesIn(directory: string, folder: string): string[] {
  return readdirSync(join(directory, folder)).toSorted();
}

function filesIn(directory: string): string[] {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true });
  return entries.flatMap((entry) => (entry.isFile() ? [entry.name] : []));
}
