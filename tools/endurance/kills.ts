import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { TestClient } from "../../harness/client.ts";
import { childrenOf } from "../../harness/processes.ts";
import { randomNumbers } from "../../harness/random-numbers.ts";
import { TestServer } from "../../harness/server.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { noneRow, RoundComparison } from "./compare-rounds.ts";
import { passesIntegrityCheck, processesWith, strayFiles } from "./leftovers.ts";
import { linkHost, Round } from "./rounds.ts";
import type { PartOptions, Row } from "./row.ts";
import { makeSmallRecordings, smallRecordings } from "./small-recordings.ts";

export interface KillPlan {
  readonly wanted: number;
  /** Maximum time between two kills. */
  readonly pauseMilliseconds: number;
  /** Sends the recordings with their language, and limits the longest to two chunks. */
  readonly isBrief: boolean;
}

/** The plan of scripts/endurance. Its kills are far enough apart for recordings to complete in between. */
const MANY_KILLS: KillPlan = { wanted: 50, pauseMilliseconds: 6000, isBrief: false };

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
  const round = new Round({
    client: () => new TestClient(server.baseUrl, key),
    ...{ recordings: smallRecordings, directory: directory.path, links: host.origin, withLanguage: isBrief },
  });
  const random = randomNumbers(seed);
  const comparison = await RoundComparison.with(server, await round.run());

  const done = { server: 0, worker: 0 };
  const killed = () => done.server + done.worker;
  let damaged = 0;
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
      if (!passesIntegrityCheck(server.dataDirectory)) damaged += 1;
      // It may be killed again before it is ready.
      starting = server.start().catch(() => {});
    }
    await starting;
  };

  while (killed() < wanted) {
    reportProgress(`${killed()} of ${wanted} kills; the next five recordings`);
    comparison.add(await round.run(kill));
  }
  await server.untilCleanedUp();
  const exitCode = await server.stop();
  if (!passesIntegrityCheck(server.dataDirectory)) damaged += 1;
  const stray = [...strayFiles(server.dataDirectory, round.entered), ...readdirSync(temporary)];
  const strayProcesses = processesWith(temporary, server.dataDirectory);

  const over = `${done.server} kills of the server, ${done.worker} of the worker, seed ${seed}`;
  const none = noneRow(over);
  return [
    ...comparison.rows(over),
    none("databases that fail the integrity check", damaged),
    none("stray files", stray.length, stray),
    none("stray processes", strayProcesses.length, strayProcesses),
    none("exit code of the last stop", exitCode),
  ];
}
