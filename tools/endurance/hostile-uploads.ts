import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { corpusFiles } from "../../harness/bad-files/corpus-files.ts";
import { mutate } from "../../harness/bad-files/mutate.ts";
import { playlists, playlistsInAvi } from "../../harness/bad-files/playlists.ts";
import { setLures } from "../../harness/bad-files/set-lures.ts";
import { specialFiles } from "../../harness/bad-files/special-files.ts";
import { randomNumbers } from "../../harness/random-numbers.ts";
import { TestServer } from "../../harness/server.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import type { PartOptions, Row } from "./row.ts";

const refusals = [422];
const reasons = ["no_speech", "too_short", "internal"];

export interface UploadCounts {
  readonly damaged: number;
  /** Maximum number of crafted files, spread over their list. */
  readonly built: number;
}

/**
 * Sends damaged and crafted files to a server and waits for their results. Accepted files must complete, or fail with a
 * reason of the API contract other than a fault of the service.
 */
export async function hostileUploads({ seed, reportProgress }: PartOptions, counts: UploadCounts): Promise<Row[]> {
  using directory = temporaryDirectory();
  await using server = new TestServer({ TRANSCRIBE_LIMITS_RECORDING_SECONDS: "1800" });
  using lures = await setLures(directory.path);
  const made = join(directory.path, "made");
  mkdirSync(made);
  const special = specialFiles(made);
  await server.start();
  const client = server.client("hostile");
  const originals = corpusFiles();
  const random = randomNumbers(seed);
  const built = [
    ...Object.values(special).map(({ bytes }) => bytes),
    ...Object.values({ ...playlists(lures), ...playlistsInAvi(lures) }).map((bytes) => () => bytes),
  ];
  const step = Math.max(1, built.length / counts.built);
  const all = [
    ...built.filter((_, index) => index % step < 1),
    ...Array.from(
      { length: counts.damaged },
      () => () => mutate(originals[Math.floor(random() * originals.length)] ?? Buffer.alloc(0), originals, random),
    ),
  ];

  const statuses = new Map<string, number>();
  const ends = new Map<string, number>();
  let odd = 0;
  let taken = 0;
  const rest = all.entries();
  const lane = async (number: number) => {
    const path = join(directory.path, `upload-${number}.bin`);
    for (const [index, bytes] of rest) {
      reportProgress(`upload ${index + 1} of ${all.length}`);
      await Bun.write(path, bytes());
      const response = await client.send(path, { language: "en" });
      count(statuses, String(response.status));
      if (response.status !== 201) {
        if (!refusals.includes(response.status)) odd += 1;
        continue;
      }
      taken += 1;
      const id = response.headers.get("location")?.split("/").at(-1) ?? "";
      const { status, failure_reason } = await client.waitUntilEnded(id);
      count(ends, status === "completed" ? status : `failed ${failure_reason}`);
      if (status !== "completed" && !reasons.includes(failure_reason ?? "")) odd += 1;
    }
  };
  // The limit of open recordings per account.
  await Promise.all(Array.from({ length: 5 }, (_, number) => lane(number)));
  const faults = server.log.filter(
    ({ event }) => event === "http.unexpected_error" || event === "engine.worker_exited",
  );
  const isReady = (await fetch(`${server.origin}/readyz`)).ok;
  const left = (folder: string) => readdirSync(join(server.dataDirectory, folder)).length;
  const stray = left("incoming") + left("work") + left("uploads") - taken;
  const exitCode = await server.stop();
  const reached = lures.connections();
  const over = `${all.length} uploads: ${listed(statuses)}; ${listed(ends)}`;
  return [
    { measured: "uploads with an unexpected result", value: String(odd), over, target: "0", ok: odd === 0 },
    {
      measured: "faults of server and worker",
      value: faults.length === 0 ? "0" : JSON.stringify(faults[0]).slice(0, 300),
      over: `ready: ${isReady ? "yes" : "no"}, exit code ${exitCode}`,
      target: "0",
      ok: faults.length === 0 && isReady && exitCode === 0,
    },
    {
      measured: "addresses reached",
      value: String(reached),
      over: "a listening address",
      target: "0",
      ok: reached === 0,
    },
    {
      measured: "files left behind",
      value: String(stray),
      over: "incoming, work, uploads",
      target: "0",
      ok: stray === 0,
    },
  ];
}

function count(counts: Map<string, number>, what: string): void {
  counts.set(what, (counts.get(what) ?? 0) + 1);
}

function listed(counts: ReadonlyMap<string, number>): string {
  return [...counts].map(([what, times]) => `${times} ${what}`).join(", ");
}
