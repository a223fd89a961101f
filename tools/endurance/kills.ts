import { readdirSync } from "node:fs";
import { childrenOf } from "../../harness/processes.ts";
import { randomNumbers } from "../../harness/random-numbers.ts";
import { TestServer } from "../../harness/server.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { Rounds } from "./rounds.ts";
import { none, type PartOptions, type Row } from "./rows.ts";
import { FETCH_SETTINGS, smallRecordings } from "./small-recordings.ts";

/**
 * The plan of scripts/endurance. Its kills are far enough apart for recordings to complete in between. A brief plan sends
 * the recordings with their language, and limits the longest to two chunks.
 */
const MANY_KILLS = { wanted: 50, pauseMilliseconds: 6000, recordings: smallRecordings, isBrief: false };

/**
 * Processes the small recordings at the same time, repeatedly, while the server or its worker is killed at random moments.
 * All recordings must have the results of an undisturbed run.
 */
export async function kills(
  { seed, reportProgress }: Pick<PartOptions, "seed" | "reportProgress">,
  { wanted, pauseMilliseconds, recordings, isBrief } = MANY_KILLS,
): Promise<Row[]> {
  using temporary = temporaryDirectory();
  await using server = new TestServer({ ...FETCH_SETTINGS, TMPDIR: temporary.path });
  await server.start();
  await using rounds = await Rounds.start(server, { recordings, chunks: isBrief ? 2 : 3, withLanguage: isBrief });
  const random = randomNumbers(seed);
  const done = { server: 0, worker: 0 };
  const killed = () => done.server + done.worker;
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
      rounds.checkDatabase();
      // It may be killed again before it is ready.
      starting = server.start().catch(() => {});
    }
    await starting;
  };
  while (killed() < wanted) {
    reportProgress(`${killed()} of ${wanted} kills; the next recordings`);
    await rounds.run(kill);
  }
  await server.untilCleanedUp();
  const exitCode = await server.stop();
  const over = `${done.server} kills of the server, ${done.worker} of the worker, seed ${seed}`;
  return [
    ...rounds.rows(over, readdirSync(temporary.path), [temporary.path]),
    none("exit code of the last stop", exitCode, over),
  ];
}
