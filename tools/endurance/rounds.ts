import { Database } from "bun:sqlite";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { bodyOf, TestClient } from "../../harness/client.ts";
import { transcriptionContract } from "../../harness/contract.ts";
import type { TestServer } from "../../harness/server.ts";
import { all, figure, none, type Row, row } from "./rows.ts";
import { type HostedRecordings, hostSmallRecordings, type SmallRecording } from "./small-recordings.ts";

export interface RoundPlan {
  readonly recordings: readonly SmallRecording[];
  /** Number of chunks of the longest. */
  readonly chunks: number;
  readonly withLanguage: boolean;
}

/** A server that is disturbed. Its process, address and directory may change between two requests. */
export type RoundServer = Pick<TestServer, "dataDirectory" | "baseUrl" | "log" | "until" | "client">;

/** Leftovers and repetitions that other parts of a test cause, so that they are no faults. */
export interface RoundAllowance {
  /** Returns whether a file of the data directory, by its path inside, belongs to something else. */
  readonly isKnown: (path: string) => boolean;
  /** Whether stored parts may be computed again: work files reach a standby some seconds after they are written. */
  readonly repeatsParts: boolean;
}

/** The result of a recording in one round. */
interface Result {
  readonly id: string;
  readonly status: string;
  /** The response body with the segments; empty if it is not completed. */
  readonly segments: string;
}

/** What the server has logged and charged for an undisturbed recording. */
interface Expected extends Result {
  /** Counts of the completed parts, by step and number. */
  readonly parts: ReadonlyMap<string, number>;
  readonly chargedSeconds: number;
}

/** Names that a data directory may contain. */
const KNOWN_NAMES =
  /^(transcribe\.db(-wal|-shm)?|server\.lock|incoming|uploads|listening|work|live|models|state|backups)$/;
const PATIENCE_MILLISECONDS = 600_000;

/**
 * Sends small recordings to a server in rounds, all recordings of a round at the same time, with clients that retry. The
 * first round is undisturbed; the results of all others must equal it.
 */
export class Rounds implements AsyncDisposable {
  readonly #server: RoundServer;
  readonly #plan: RoundPlan;
  readonly #hosted: HostedRecordings;
  readonly #key: string;
  readonly #undisturbed = new Map<SmallRecording, Expected>();
  /** Ids of all recordings that the server has returned. */
  readonly #entered = new Set<string>();
  readonly #otherSegments: string[] = [];
  readonly #otherCharges: string[] = [];
  readonly #counts = { recordings: 0, notCompleted: 0, again: 0, damaged: 0 };

  private constructor(server: RoundServer, plan: RoundPlan, hosted: HostedRecordings) {
    this.#server = server;
    this.#plan = plan;
    this.#hosted = hosted;
    this.#key = server.client("rounds").key;
  }

  /** Creates the recordings and runs the undisturbed round. @param server with FETCH_SETTINGS, which runs */
  static async start(server: RoundServer, plan: RoundPlan): Promise<Rounds> {
    const rounds = new Rounds(server, plan, await hostSmallRecordings(plan.recordings, plan.chunks));
    const results = await rounds.#run(async () => {});
    // Clients can see the completion before the log is read. A part missing from these counts would be reported as
    // repeated.
    const isLogged = ({ id }: Result) =>
      server.log.some(({ event, recordingId }) => recordingId === id && /^recording\.(completed|failed)$/.test(event));
    await server.until(() => [...results.values()].every(isLogged));
    for (const [name, result] of results) {
      const chargedSeconds = rounds.#chargedSeconds(result.id);
      rounds.#undisturbed.set(name, { ...result, parts: rounds.#partsOf(result.id), chargedSeconds });
    }
    return rounds;
  }

  /** Runs a round and compares it with the undisturbed one. @param disturb runs at the same time */
  async run(disturb: (hasEnded: () => boolean) => Promise<unknown>): Promise<void> {
    for (const [name, { id, status, segments }] of await this.#run(disturb)) {
      const expected = this.#undisturbed.get(name);
      this.#counts.recordings += 1;
      if (status !== "completed") this.#counts.notCompleted += 1;
      else if (segments !== expected?.segments) {
        this.#otherSegments.push(`${name}: ${firstDifference(expected?.segments ?? "", segments)}`);
      }
      for (const [part, count] of this.#partsOf(id)) {
        this.#counts.again += Math.max(0, count - (expected?.parts.get(part) ?? 0));
      }
      const seconds = this.#chargedSeconds(id);
      if (seconds !== expected?.chargedSeconds) {
        this.#otherCharges.push(`${name}: ${expected?.chargedSeconds} s became ${seconds} s`);
      }
    }
  }

  /** Checks the database of a server that does not run. */
  checkDatabase(): void {
    if (integrityOf(this.#server) !== "ok") this.#counts.damaged += 1;
  }

  /**
   * Returns the rows of all rounds, after the server was stopped.
   * @param stray files that other machines have left
   * @param directories other directories whose processes must have exited
   */
  rows(
    over: string,
    stray: readonly string[],
    directories: readonly string[],
    { isKnown, repeatsParts }: RoundAllowance = { isKnown: () => false, repeatsParts: false },
  ): Row[] {
    this.checkDatabase();
    const { recordings, notCompleted, again, damaged } = this.#counts;
    const undisturbed = [...this.#undisturbed.values()];
    const { length } = this.#plan.recordings;
    const isCompleted = ({ status }: Result) => status === "completed";
    return [
      row("disturbed recordings", recordings, over, `${length} or more`, recordings >= length),
      all("undisturbed and completed", undisturbed.filter(isCompleted).length, length, over),
      none("not completed", notCompleted, over),
      none("completed with other segments than without disturbances", this.#otherSegments, over),
      repeatsParts
        ? figure("stored parts that were computed again", String(again), over)
        : none("stored parts that were computed again", again, over),
      none("charged for another length than without disturbances", this.#otherCharges, over),
      none("databases that fail the integrity check", damaged, over),
      none("stray files", [...this.#strayFiles().filter((path) => !isKnown(path)), ...stray], over),
      none("stray processes", processesWith(this.#server.dataDirectory, ...directories), over),
    ];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#hosted[Symbol.asyncDispose]();
  }

  async #run(disturb: (hasEnded: () => boolean) => Promise<unknown>): Promise<Map<SmallRecording, Result>> {
    const { recordings } = this.#plan;
    const results = new Map<SmallRecording, Result>();
    const one = async (name: SmallRecording) => {
      const idempotencyKey = crypto.randomUUID();
      const id = await retry(() => this.#create(name, idempotencyKey));
      this.#entered.add(id);
      const status = await retry(async () => {
        const { status } = await this.#client().get(id);
        if (status === "queued" || status === "processing") throw new Error("the recording is still open");
        return status;
      });
      const segments = status === "completed" ? await retry(() => this.#segmentsOf(id)) : "";
      results.set(name, { id, status, segments });
    };
    await Promise.all([...recordings.map(one), disturb(() => results.size === recordings.length)]);
    return results;
  }

  /** Returns a client for the server's current port. */
  #client(): TestClient {
    return new TestClient(this.#server.baseUrl, this.#key);
  }

  async #create(name: SmallRecording, idempotencyKey: string): Promise<string> {
    const body = this.#hosted.formOf(name);
    if (this.#plan.withLanguage) body.set("language", "en");
    const headers = { "Idempotency-Key": idempotencyKey };
    const response = await this.#client().fetch("/transcriptions", { method: "POST", body, headers });
    return (await bodyOf(response, 201, transcriptionContract)).id;
  }

  async #segmentsOf(id: string): Promise<string> {
    const response = await this.#client().fetch(`/transcriptions/${id}/segments?limit=1000`);
    if (!response.ok) throw new Error(`${response.status}`);
    return response.text();
  }

  /** Counts the completed parts in the log. A part whose process was killed before it was logged is not counted. */
  #partsOf(id: string): Map<string, number> {
    const counts = new Map<string, number>();
    for (const { event, recordingId, step, part } of this.#server.log) {
      if (event !== "recording.part_finished" || recordingId !== id) continue;
      counts.set(`${step} ${part}`, (counts.get(`${step} ${part}`) ?? 0) + 1);
    }
    return counts;
  }

  /** Returns the seconds of audio that the account was charged for a recording. */
  #chargedSeconds(id: string): number {
    using database = databaseOf(this.#server);
    const query = "SELECT sum(seconds) AS seconds FROM audio_usage WHERE recording_id = ?";
    return database.query<{ seconds: number | null }, [string]>(query).get(id)?.seconds ?? 0;
  }

  /** Returns the files of the data directory that belong to no recording. */
  #strayFiles(): string[] {
    const { dataDirectory } = this.#server;
    const inside = (folder: string) => readdirSync(join(dataDirectory, folder)).map((name) => `${folder}/${name}`);
    return [
      ...readdirSync(dataDirectory).filter((name) => !KNOWN_NAMES.test(name)),
      ...["incoming", "work", "listening"].flatMap(inside),
      ...inside("uploads").filter((path) => !this.#entered.has(path.slice("uploads/".length))),
      ...inside("state").filter((path) => path !== "state/devices.json"),
    ];
  }
}

/** Retries until the attempt succeeds, because a killed server restarts within a moment. */
async function retry<T>(attempt: () => Promise<T>): Promise<T> {
  const giveUpAt = performance.now() + PATIENCE_MILLISECONDS;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (performance.now() > giveUpAt) throw error;
      await Bun.sleep(200);
    }
  }
}

/** Returns the surroundings of the first difference between two texts. */
function firstDifference(one: string, other: string): string {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at++;
  const around = (text: string) => text.slice(Math.max(0, at - 80), at + 40);
  return `${around(one)} became ${around(other)}`;
}

function databaseOf({ dataDirectory }: Pick<TestServer, "dataDirectory">): Database {
  return new Database(join(dataDirectory, "transcribe.db"), { readonly: true });
}

/** Returns `ok`, or the first fault of a server's database. */
export function integrityOf(server: Pick<TestServer, "dataDirectory">): string {
  using database = databaseOf(server);
  return String(database.query<Record<string, string>, []>("PRAGMA integrity_check").get()?.integrity_check);
}

/** Returns the command lines of processes with one of these paths in their arguments or environment. */
function processesWith(...paths: readonly string[]): string[] {
  return readdirSync("/proc").flatMap((pid) => {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) return [];
    try {
      const [command = "", environment = ""] = ["cmdline", "environ"].map((file) =>
        readFileSync(`/proc/${pid}/${file}`, "utf8"),
      );
      const isOurs = paths.some((path) => command.includes(path) || environment.includes(path));
      return isOurs ? [command.replaceAll("\0", " ").trim()] : [];
    } catch {
      return [];
    }
  });
}
