import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { craftedFiles, damagedFiles, playlistFiles } from "../../harness/bad-files/groups.ts";
import { setLures } from "../../harness/bad-files/playlists.ts";
import { tally } from "../../harness/load-clients.ts";
import { randomNumbers } from "../../harness/random-numbers.ts";
import { TestServer } from "../../harness/server.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { none, type PartOptions, type Row, row } from "./rows.ts";

/** Reasons of the API contract for a failed recording, other than a fault of the service. */
const REASONS: readonly string[] = ["no_speech", "too_short", "internal"];
/** The limit of open recordings per account. */
const LANES = 5;

/**
 * Sends damaged and crafted files to a server and waits for their results. Accepted files must complete, or fail with a
 * reason of the API contract other than a fault of the service.
 * @param counts maximum numbers of damaged and of crafted files, the latter spread over their list
 */
export async function hostileUploads(
  { seed, reportProgress }: PartOptions,
  counts: { damaged: number; built: number },
): Promise<Row[]> {
  using directory = temporaryDirectory();
  await using server = new TestServer({ TRANSCRIBE_LIMITS_RECORDING_SECONDS: "1800" });
  using lures = await setLures(directory.path);
  const made = join(directory.path, "made");
  mkdirSync(made);
  const built = [...craftedFiles(made), ...playlistFiles(lures)];
  const step = Math.max(1, built.length / counts.built);
  const files = [...built.filter((_, index) => index % step < 1), ...damagedFiles(counts.damaged, randomNumbers(seed))];
  await server.start();
  const client = server.client("hostile");
  const statuses: number[] = [];
  const ends: string[] = [];
  let unexpected = 0;
  const rest = files.entries();
  const lane = async (number: number) => {
    const path = join(directory.path, `upload-${number}.bin`);
    for (const [index, { bytes }] of rest) {
      reportProgress(`upload ${index + 1} of ${files.length}`);
      await Bun.write(path, bytes());
      const response = await client.send(path, { language: "en" });
      statuses.push(response.status);
      if (response.status !== 201) {
        if (response.status !== 422) unexpected += 1;
        continue;
      }
      const id = response.headers.get("location")?.split("/").at(-1) ?? "";
      const { status, failure_reason } = await client.waitUntilEnded(id);
      ends.push(status === "completed" ? status : `failed ${failure_reason}`);
      if (status !== "completed" && !REASONS.includes(failure_reason ?? "")) unexpected += 1;
    }
  };
  await Promise.all(Array.from({ length: LANES }, (_, number) => lane(number)));
  const faults = server.log
    .filter(({ event }) => event === "http.unexpected_error" || event === "engine.worker_exited")
    .map((line) => JSON.stringify(line).slice(0, 300));
  const isReady = (await fetch(`${server.origin}/readyz`)).ok;
  const left = ["incoming", "work", "uploads"].flatMap((folder) => readdirSync(join(server.dataDirectory, folder)));
  const exitCode = await server.stop();
  const condition = `ready: ${isReady ? "yes" : "no"}, exit code ${exitCode}`;
  const isFaultless = faults.length === 0 && isReady && exitCode === 0;
  return [
    none(
      "uploads with an unexpected result",
      unexpected,
      `${files.length} uploads: ${tally(statuses)}; ${tally(ends)}`,
    ),
    row("faults of server and worker", faults[0] ?? "0", condition, "0", isFaultless),
    none("addresses reached", lures.connections(), "a listening address"),
    none("files left behind", left.length - ends.length, "incoming, work, uploads"),
  ];
}
