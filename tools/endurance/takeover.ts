import { Database } from "bun:sqlite";
import { join } from "node:path";
import { TestClient } from "../../harness/client.ts";
import { natsServerProgram } from "../../harness/nats-server.ts";
import { makeRecordingOfChunks } from "../../harness/sample-recordings.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { networksObstacle } from "./networks.ts";
import { atMost, none, notRun, type PartOptions, type Row, row } from "./rows.ts";
import { type Answer, BROKER, TakeoverMachines } from "./takeover-machines.ts";

/** A disturbance between two takeovers, after which the same server continues. */
export type Disturbance = "no way to the broker" | "no way from the broker" | "standby unreachable" | "slow";

export interface TakeoverPlan {
  readonly leaseSeconds: number;
  /** Number of takeovers from a server that was cut off, each followed by one from a server that was stopped. */
  readonly rounds: number;
  readonly disturbances: readonly Disturbance[];
  /** Number of chunks of the recording that is processed during a takeover. */
  readonly chunks: number;
}

/** The plan of scripts/endurance, with the lease that is the default. */
const ALL: TakeoverPlan = {
  leaseSeconds: 12,
  rounds: 3,
  disturbances: ["no way to the broker", "no way from the broker", "standby unreachable", "slow"],
  chunks: 6,
};

/** A takeover is promised within this time. */
const TAKEOVER_SECONDS = 30;
/** Answers that were being sent when the lease lapsed are cut within a quarter of a second; the rest is the test's. */
const CUT_SECONDS = 0.5;
/** Time for a former server to learn of the takeover after its network is back: its connections wait between attempts. */
const LEARN_SECONDS = 60;
/** A standby that is silent for 15 s counts as gone. */
const SILENT_SECONDS = 20;
const SLOW_KILOBITS = 2000;

/** Returns why the test cannot run here; null if it can. */
export async function takeoverObstacle(): Promise<string | null> {
  if (networksObstacle !== null) return networksObstacle;
  return (await natsServerProgram("takeovers between machines")) === null ? "there is no nats-server" : null;
}

/**
 * takeover: a server and its standby on machines of their own lose packets between each other and the broker, and take
 * over from each other. Nothing may be answered without the lease, nothing that was answered may be missing, and the
 * worker continues with the new server.
 */
export async function takeover({ reportProgress }: Pick<PartOptions, "reportProgress">, plan = ALL): Promise<Row[]> {
  const obstacle = await takeoverObstacle();
  if (obstacle !== null) return notRun("takeover", obstacle);
  const program = (await natsServerProgram("takeovers between machines")) ?? "";
  await using machines = await TakeoverMachines.start(program, plan.leaseSeconds);
  using test = await TakeoverTest.create(machines, plan);
  for (let round = 1; round <= plan.rounds; round++) {
    for (const disturbance of plan.disturbances) {
      reportProgress(`round ${round}: ${disturbance}`);
      await test.disturb(disturbance);
    }
    reportProgress(`round ${round}: takeover from a server that is cut off`);
    await test.takeOverFromIsolated();
    reportProgress(`round ${round}: takeover from a server that was stopped`);
    await test.takeOverFromStopped();
  }
  return test.rows();
}

class TakeoverTest implements Disposable {
  readonly #machines: TakeoverMachines;
  readonly #plan: TakeoverPlan;
  readonly #folder = temporaryDirectory();
  readonly #key: string;
  #recording = "";
  /** Ids of all recordings whose creation was answered. */
  readonly #answered = new Set<string>();
  readonly #faults = { lost: [] as string[], late: [] as string[], steps: [] as string[], charges: [] as string[] };
  readonly #seconds = { promote: [0], stop: [0], learn: [0] };

  private constructor(machines: TakeoverMachines, plan: TakeoverPlan) {
    this.#machines = machines;
    this.#plan = plan;
    this.#key = machines.active.server.client("takeover").key;
  }

  static async create(machines: TakeoverMachines, plan: TakeoverPlan): Promise<TakeoverTest> {
    const test = new TakeoverTest(machines, plan);
    test.#recording = await makeRecordingOfChunks(test.#folder.path, plan.chunks);
    return test;
  }

  /** Cuts a server off while its worker processes a recording, takes over, and lets the former server follow. */
  async takeOverFromIsolated(): Promise<void> {
    const { networks, active, standby } = this.#machines;
    const endAsking = await active.ask(this.#key);
    const { id } = await this.#client().create(this.#recording, { language: "en" });
    this.#answered.add(id);
    await active.server.until(() => active.server.log.some((line) => isStepOf(line, id)));
    networks.isolate(active.name);
    const cutAt = Date.now();
    const promoted = await standby.promote();
    this.#seconds.promote.push(promoted.seconds);
    this.#expect("promote exits with 0", promoted.exitCode === 0, promoted.stderr);
    await standby.server.start();
    this.#machines.exchange();
    await this.#expectRefusal("the new server refuses changes without a standby", "not connected");
    const ended = await this.#client().waitUntilEnded(id);
    this.#expect("the recording is completed by the new server", ended.status === "completed", ended.status);

    networks.heal();
    const healed = performance.now();
    const exitCode = await active.exitCode();
    this.#seconds.learn.push((performance.now() - healed) / 1000);
    this.#expect("the former server exits with 6", exitCode === 6, `${exitCode}`);
    this.#judge(await endAsking(), cutAt);
    await active.follow("--replace");
    await this.#expectAnswered();
    this.#expectCharge(id);
  }

  /** Stops the server in order, and takes over at once. */
  async takeOverFromStopped(): Promise<void> {
    const { active, standby } = this.#machines;
    this.#expect("the server stops", (await active.server.stop()) === 0, active.server.tail(3));
    const promoted = await standby.promote();
    this.#seconds.promote.push(promoted.seconds);
    this.#expect("promote after a stop exits with 0", promoted.exitCode === 0, promoted.stderr);
    await standby.server.start();
    this.#machines.exchange();
    await active.follow("--replace");
    await this.#expectAnswered();
  }

  /** Disturbs the network without a takeover. */
  async disturb(kind: Disturbance): Promise<void> {
    const { networks, active, standby } = this.#machines;
    const { server } = active;
    const since = server.log.length;
    const isLogged = (event: string) => () => server.log.slice(since).some((line) => line.event === event);
    if (kind === "slow") {
      for (const { name } of [active, standby]) networks.slow(name, SLOW_KILOBITS);
      const { id } = await this.#client().create(this.#recording, { language: "en" });
      this.#answered.add(id);
      await this.#client().waitUntilEnded(id);
      this.#expect("a slow network costs no lease", !isLogged("standby.lease_lapsed")(), server.tail(3));
    } else if (kind === "standby unreachable") {
      networks.cut(active.name, standby.name);
      const before = standby.log.length;
      await server.until(isLogged("standby.disconnected"), 100, 1000 * SILENT_SECONDS);
      await this.#expectRefusal("changes are refused while the standby can't be reached", "standby.wait");
      const { exitCode, stderr } = await standby.promote();
      this.#expect("no takeover from a server that serves", exitCode === 1 && stderr.includes("still serves"), stderr);
      networks.heal();
      await standby.untilFollowing(before);
    } else {
      const [from, to] = kind === "no way to the broker" ? [active.name, BROKER] : [BROKER, active.name];
      networks.lose(from, to);
      await server.until(isLogged("standby.lease_lapsed"));
      const { status } = await this.#client().fetch("/transcriptions?limit=1");
      this.#expect("a server without its lease refuses", status === 503, `${status}`);
      networks.heal();
      await server.until(isLogged("standby.lease_held"));
    }
    await this.#expectAnswered();
  }

  /** Returns the table, after the last takeover. */
  rows(): Row[] {
    const { lost, late, steps, charges } = this.#faults;
    const over = `${this.#plan.rounds} takeovers from a server that was cut off, ${this.#plan.rounds} from one that was stopped; ${this.#answered.size} answered creates`;
    const isEnough = this.#answered.size > this.#plan.rounds;
    return [
      row("answered creates", this.#answered.size, over, "some", isEnough),
      none("answered creates that a new server lacked", lost, over),
      none("answers of a server that was cut off, after its lease", late, over),
      none("recordings with another charge", charges, over),
      none("unexpected results", steps, over),
      atMost("promote", Math.max(...this.#seconds.promote), TAKEOVER_SECONDS, over),
      atMost("from the cut to the last answer", Math.max(...this.#seconds.stop), this.#lastAnswer, over),
      atMost(
        "from the end of the cut to the former server's exit",
        Math.max(...this.#seconds.learn),
        LEARN_SECONDS,
        over,
      ),
    ];
  }

  [Symbol.dispose](): void {
    this.#folder[Symbol.dispose]();
  }

  get #lastAnswer(): number {
    return this.#plan.leaseSeconds + CUT_SECONDS;
  }

  /** A client of the server that serves, from the network of this process. */
  #client(): TestClient {
    return new TestClient(this.#machines.active.server.baseUrl, this.#key);
  }

  /** Judges what a server answered in its own network. @param cutAt when it was cut off */
  #judge(answers: readonly Answer[], cutAt: number): void {
    const created = answers.filter(({ method, status }) => method === "POST" && status === 201);
    for (const { id } of created) if (id !== null) this.#answered.add(id);
    const served = answers.filter(({ method, status }) => method === "GET" && status === 200);
    const last = Math.max(cutAt, ...served.map(({ at }) => at));
    this.#seconds.stop.push((last - cutAt) / 1000);
    this.#faults.late.push(
      ...served.filter(({ at }) => at - cutAt > 1000 * this.#lastAnswer).map((late) => JSON.stringify(late)),
      // Without its standby, it may confirm no change at all.
      ...created.filter(({ sentAt }) => sentAt > cutAt).map((late) => JSON.stringify(late)),
    );
    this.#expect(
      "the server answered before it was cut off",
      served.some(({ at }) => at < cutAt),
      `${answers.length}`,
    );
  }

  /** Requires that a create is refused with 503 and a reason. */
  async #expectRefusal(what: string, reason: string): Promise<void> {
    const response = await this.#client().send(this.#recording);
    const text = await response.text();
    this.#expect(what, response.status === 503 && text.includes(reason), `${response.status} ${text}`);
  }

  /** Requires that a change is answered, and that everything answered so far is there. */
  async #expectAnswered(): Promise<void> {
    const { server } = this.#machines.active;
    await server.until(async () => (await this.#client().fetch("/transcriptions?limit=1")).status === 200);
    const { id } = await this.#client().create(this.#recording, { language: "en" });
    await this.#client().fetch(`/transcriptions/${id}`, { method: "DELETE" });
    for (const each of this.#answered) {
      const { status } = await this.#client().fetch(`/transcriptions/${each}`);
      if (status !== 200) this.#faults.lost.push(`${each}: ${status}`);
    }
  }

  /** Requires that a recording was charged once. */
  #expectCharge(id: string): void {
    using database = new Database(join(this.#machines.active.server.dataDirectory, "transcribe.db"), {
      readonly: true,
    });
    const charged = database.query<{ seconds: number }, [string]>(
      "SELECT seconds FROM audio_usage WHERE recording_id = ?",
    );
    const duration = database.query<{ seconds: number }, [string]>(
      "SELECT duration_seconds AS seconds FROM recordings WHERE id = ?",
    );
    const [found, wanted] = [charged.all(id), duration.get(id)];
    if (found.length !== 1 || found[0]?.seconds !== wanted?.seconds) {
      this.#faults.charges.push(`${id}: ${JSON.stringify(found)} instead of ${wanted?.seconds}`);
    }
  }

  #expect(what: string, isTrue: boolean, found: string): void {
    if (!isTrue) this.#faults.steps.push(`${what}: ${found.trim()}`);
  }
}

/** Whether a worker has completed a part of a recording. */
function isStepOf(
  { event, recordingId }: { readonly event: string; readonly recordingId?: unknown },
  id: string,
): boolean {
  return event === "recording.operation_finished" && recordingId === id;
}
