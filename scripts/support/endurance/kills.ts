import { Database } from "bun:sqlite";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { bodyOf, TestClient } from "../../../test/support/client.ts";
import { transcriptionContract } from "../../../test/support/contract.ts";
import { childrenOf } from "../../../test/support/processes.ts";
import { randomNumbers } from "../../../test/support/random-numbers.ts";
import { TestServer } from "../../../test/support/server.ts";
import { temporaryDirectory } from "../../../test/support/temporary-directory.ts";
import type { PartOptions, Row } from "./row.ts";
import { makeSmallRecordings, type SmallRecording, smallRecordings } from "./small-recordings.ts";

export interface KillPlan {
  readonly wanted: number;
  /** Maximum time between two kills. */
  readonly pauseMilliseconds: number;
  /** Sends the recordings with their language, and limits the longest to two chunks. */
  readonly isBrief: boolean;
}

/** The plan of scripts/endurance. Its kills are far enough apart for recordings to complete in between. */
const MANY_KILLS: KillPlan = { wanted: 50, pauseMilliseconds: 6000, isBrief: false };

/** Names that a data directory may contain. */
const KNOWN_NAMES = /^(transcribe\.db(-wal|-shm)?|server\.lock|incoming|uploads|listening|work|models|state|backups)$/;

/**
 * Processes five recordings at the same time, repeatedly, while the server or its worker is killed at random moments.
 * All recordings must have the results of an undisturbed run.
 */
export async function kills(
  { seed, reportProgress }: Pick<PartOptions, "seed" | "reportProgress">,
  { wanted, pauseMilliseconds, isBrief } = MANY_KILLS,
): Promise<Row[]> {
  using directory = temporaryDirectory();
  await makeSmallRecordings(directory.path, isBrief ? 2 : 3);
  const temporary = join(directory.path, "tmp");
  mkdirSync(temporary);
  await using host = linkHost(directory.path);
  await using server = new TestServer({ TRANSCRIBE_FETCH_ALLOW: "127.0.0.1/32", TMPDIR: temporary });
  await server.start();
  const { key } = server.client("kills");
  const client = () => new TestClient(server.baseUrl, key);
  const round = new Round({ client, isBrief, directory: directory.path, links: host.origin });
  const random = randomNumbers(seed);

  const undisturbed = await round.run(async () => {});
  // Clients can see the completion before the log is read. A part missing from these counts would be reported as
  // repeated.
  const isLogged = (id: string) =>
    server.log.some(({ event, recordingId }) => recordingId === id && /^recording\.(completed|failed)$/.test(event));
  await server.until(() => [...undisturbed.ids.values()].every(isLogged));
  const partsOf = (ids: ReadonlyMap<SmallRecording, string>) => countParts(server, ids);
  const expectedParts = partsOf(undisturbed.ids);

  const done = { server: 0, worker: 0 };
  const killed = () => done.server + done.worker;
  const faults = { recordings: 0, notCompleted: 0, again: 0, damaged: 0 };
  const otherSegments: string[] = [];
  const kill = async (hasEnded: () => boolean) => {
    let starting: Promise<void> = Promise.resolve();
    while (killed() < wanted && !hasEnded()) {
      await Bun.sleep(random() * pauseMilliseconds);
      const atServer = random() < 0.5;
      const [worker] = childrenOf(server.pid, "__worker");
      if (!atServer && worker !== undefined) {
        process.kill(worker, "SIGKILL");
        done.worker += 1;
        continue;
      }
      await server.killHard();
      await starting;
      done.server += 1;
      if (!passesIntegrityCheck(server.dataDirectory)) faults.damaged += 1;
      // It may be killed again before it is ready.
      starting = server.start().catch(() => {});
    }
    await starting;
  };

  while (killed() < wanted) {
    reportProgress(`${killed()} of ${wanted} kills; the next five recordings`);
    const disturbed = await round.run(kill);
    const parts = partsOf(disturbed.ids);
    for (const name of smallRecordings) {
      faults.recordings += 1;
      if (disturbed.statuses.get(name) !== "completed") faults.notCompleted += 1;
      else {
        const difference = firstDifference(undisturbed.segments.get(name) ?? "", disturbed.segments.get(name) ?? "");
        if (difference !== null) otherSegments.push(`${name}: ${difference}`);
      }
      for (const [part, count] of parts.get(name) ?? []) {
        faults.again += Math.max(0, count - (expectedParts.get(name)?.get(part) ?? 0));
      }
    }
  }
  await server.untilCleanedUp();
  const exitCode = await server.stop();
  if (!passesIntegrityCheck(server.dataDirectory)) faults.damaged += 1;
  const stray = [...strayFiles(server.dataDirectory, round.entered), ...readdirSync(temporary)];
  const strayProcesses = processesWith(temporary, server.dataDirectory);

  const over = `${done.server} kills of the server, ${done.worker} of the worker, seed ${seed}`;
  const none = (measured: string, value: number, found: readonly string[] = []): Row => ({
    measured,
    value: String(value),
    over: [over, ...found].join("; "),
    target: "0",
    ok: value === 0,
  });
  return [
    {
      measured: "disturbed recordings",
      value: String(faults.recordings),
      over,
      target: "5 or more",
      ok: faults.recordings >= 5,
    },
    none("undisturbed and not completed", smallRecordings.length - undisturbed.segments.size),
    none("not completed", faults.notCompleted),
    none("completed with other segments than without kills", otherSegments.length, otherSegments),
    none("stored parts that were computed again", faults.again),
    none("databases that fail the integrity check", faults.damaged),
    none("stray files", stray.length, stray),
    none("stray processes", strayProcesses.length, strayProcesses),
    none("exit code of the last stop", exitCode),
  ];
}

/** Returns the surroundings of the first difference between two texts; null when they are equal. */
function firstDifference(one: string, other: string): string | null {
  if (one === other) return null;
  let at = 0;
  while (one[at] === other[at]) at++;
  const around = (text: string) => text.slice(Math.max(0, at - 80), at + 40);
  return `${around(one)} became ${around(other)}`;
}

interface Outcome {
  readonly ids: ReadonlyMap<SmallRecording, string>;
  readonly statuses: ReadonlyMap<SmallRecording, string>;
  /** The response bodies with the segments. */
  readonly segments: ReadonlyMap<SmallRecording, string>;
}

interface RoundOptions extends Pick<KillPlan, "isBrief"> {
  readonly client: () => TestClient;
  /** Folder of the recordings. */
  readonly directory: string;
  /** Origin of the recordings that are sent as links. */
  readonly links: string;
}

/** Sends five recordings at the same time with clients that retry, and waits for their results. */
class Round {
  readonly #options: RoundOptions;
  /** Ids of all recordings that the server has returned. */
  readonly entered = new Set<string>();

  constructor(options: RoundOptions) {
    this.#options = options;
  }

  /** @param disturb runs at the same time */
  async run(disturb: (hasEnded: () => boolean) => Promise<void>): Promise<Outcome> {
    let open = smallRecordings.length;
    const [ids, statuses, segments] = [0, 0, 0].map(() => new Map<SmallRecording, string>());
    const one = async (name: SmallRecording) => {
      const key = crypto.randomUUID();
      const { id } = await retry(() => this.#create(name, key));
      this.entered.add(id);
      ids?.set(name, id);
      const ended = await retry(async () => {
        const { status } = await this.#options.client().get(id);
        if (status === "queued" || status === "processing") throw new Error("the recording is still open");
        return status;
      });
      statuses?.set(name, ended);
      if (ended === "completed") segments?.set(name, await retry(() => this.#segments(id)));
      open -= 1;
    };
    await Promise.all([...smallRecordings.map(one), disturb(() => open === 0)]);
    return { ids: ids ?? new Map(), statuses: statuses ?? new Map(), segments: segments ?? new Map() };
  }

  async #create(name: SmallRecording, key: string) {
    const { client, directory, links, isBrief } = this.#options;
    const body = new FormData();
    if (name === "linked.mp3") body.set("url", `${links}/${name}`);
    else body.set("file", Bun.file(join(directory, name)), name);
    if (isBrief) body.set("language", "en");
    const headers = { "Idempotency-Key": key };
    const response = await client().fetch("/transcriptions", { method: "POST", body, headers });
    return bodyOf(response, 201, transcriptionContract);
  }

  async #segments(id: string): Promise<string> {
    const response = await this.#options.client().fetch(`/transcriptions/${id}/segments?limit=1000`);
    if (!response.ok) throw new Error(`${response.status}`);
    return response.text();
  }
}

/** Retries until the attempt succeeds, because a killed server restarts within a moment. */
async function retry<T>(attempt: () => Promise<T>): Promise<T> {
  const giveUpAt = performance.now() + 600_000;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (performance.now() > giveUpAt) throw error;
      await Bun.sleep(200);
    }
  }
}

function linkHost(directory: string) {
  const host = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (request) => new Response(Bun.file(join(directory, new URL(request.url).pathname.slice(1)))),
  });
  return { origin: `http://127.0.0.1:${host.port}`, [Symbol.asyncDispose]: () => host.stop(true) };
}

/**
 * Counts the completed parts of each recording in the log. A part whose process was killed before it was logged is not
 * counted.
 */
function countParts(server: TestServer, ids: ReadonlyMap<SmallRecording, string>) {
  const names = new Map([...ids].map(([name, id]) => [id, name]));
  const counts = new Map<SmallRecording, Map<string, number>>();
  for (const { event, recordingId, step, part } of server.log) {
    const name = names.get(String(recordingId));
    if (event !== "recording.part_finished" || name === undefined) continue;
    const parts = counts.get(name) ?? new Map<string, number>();
    counts.set(name, parts.set(`${step} ${part}`, (parts.get(`${step} ${part}`) ?? 0) + 1));
  }
  return counts;
}

function passesIntegrityCheck(dataDirectory: string): boolean {
  using database = new Database(join(dataDirectory, "transcribe.db"));
  const answers = database.query<{ integrity_check: string }, []>("PRAGMA integrity_check").all();
  return answers.length === 1 && answers[0]?.integrity_check === "ok";
}

function strayFiles(dataDirectory: string, ids: ReadonlySet<string>): string[] {
  const inside = (folder: string) => readdirSync(join(dataDirectory, folder)).map((name) => `${folder}/${name}`);
  return [
    ...readdirSync(dataDirectory).filter((name) => !KNOWN_NAMES.test(name)),
    ...inside("incoming"),
    ...inside("work"),
    ...inside("listening"),
    ...inside("uploads").filter((path) => !ids.has(path.slice("uploads/".length))),
    ...inside("state").filter((path) => path !== "state/devices.json"),
  ];
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
