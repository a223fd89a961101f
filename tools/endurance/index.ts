// scripts/endurance: tests of long recordings, crashes, full disks and hostile files, which docs/endurance.md describes.
import { readFileSync } from "node:fs";
import { TestServer } from "../../harness/server.ts";
import { removeTemporaryDirectories, temporaryDirectories } from "../../harness/temporary-directory.ts";
import { messageOf } from "../../src/text/index.ts";
import { circumstances } from "../shared/circumstances.ts";
import { defineCommand, runCommandLine } from "../shared/command.ts";
import { flag, positive, readName, whole } from "../shared/options.ts";
import { beforeStop, isStopping } from "../shared/processes.ts";
import { asText } from "../shared/table.ts";
import { backup } from "./backup.ts";
import { brokenDisk, disk } from "./disk.ts";
import { fleet } from "./fleet.ts";
import { hostile } from "./hostile.ts";
import { eighteen, hours } from "./hours.ts";
import { kills } from "./kills.ts";
import { load } from "./load.ts";
import { partitions } from "./partitions.ts";
import { pool } from "./pool.ts";
import { type Part, type Row, row } from "./rows.ts";
import { standby } from "./standby.ts";
import { store } from "./store.ts";
import { stuck } from "./stuck.ts";
import { takeover } from "./takeover.ts";
import { webhooks } from "./webhooks.ts";

const PARTS: Readonly<Record<string, readonly [does: string, run: Part]>> = {
  hours: ["a recording of 2 hours, all steps", hours],
  eighteen: ["a recording of 18 hours, all steps except transcription", eighteen],
  store: ["segments of 18 hours: built, stored, read in pages and exports", store],
  kills: ["server and worker killed 50 times while they process five recordings", kills],
  fleet: ["coordinator, broker and workers of a fleet killed 50 times and stopped meanwhile", fleet],
  pool: ["a pool of a fleet that grows from one worker to eight and shrinks again", pool],
  standby: ["a server and its standby, killed, stopped and cut off, with 12 takeovers", standby],
  stuck: ["a stopped worker, idle and during a chunk", stuck],
  disk: ["recordings on a disk that fills up repeatedly", disk],
  "broken-disk": ["a disk that the kernel remounts read-only (needs root)", brokenDisk],
  backup: ["backups of a busy server, restored elsewhere", backup],
  load: ["many clients at once, slow clients and cut uploads", load],
  hostile: ["malicious files", hostile],
  webhooks: ["ten thousand events for a receiver that is down, the sender killed 50 times", webhooks],
  partitions: ["a worker of a fleet cut off from the broker 30 times (needs root)", partitions],
  takeover: ["a standby that takes over from a server whose network fails (needs root)", takeover],
};

const command = defineCommand({
  name: "scripts/endurance",
  about:
    "Tests long recordings, crashes and full disks. Starts servers of this checkout with data directories of their own and prints a table of results. Without a PART, runs all parts, which takes hours. Exits with 1 when a result misses its target.",
  names: "PART",
  list: { title: "Parts:", lines: Object.entries(PARTS).map(([name, [does]]) => [name, does] as const) },
  options: {
    seed: whole("seed of the random choices", { least: 0, fallback: 1 }),
    hours: positive("length of the recordings of hours, eighteen and store"),
    json: flag("print the table as JSON"),
  },
  async run({ json, ...options }, names) {
    const wanted = names.map((name) => readName(name, "a part", Object.keys(PARTS)));
    beforeStop(cleanUp);
    const rows: (Row & { readonly part: string })[] = [];
    for (const [part, [, run]] of Object.entries(PARTS)) {
      if (wanted.length > 0 && !wanted.includes(part)) continue;
      const reportProgress = (text: string) => {
        if (process.stderr.isTTY) console.error(`${part}: ${text}`);
      };
      for (const each of await rowsOf(run({ ...options, reportProgress }))) rows.push({ part, ...each });
    }
    const figures = { ...(await circumstances(Date.now())), seed: options.seed, rows };
    const lines = rows.map(({ part, measured, value, over, target, ok }) => {
      return [part, measured, value, target, ok ? "ok" : "NOT OK", over];
    });
    console.log(json ? JSON.stringify(figures, null, 2) : asText({ head: lines[0]?.map(() => "") ?? [], lines }));
    process.exit(rows.every(({ ok }) => ok) ? 0 : 1);
  },
});
await runCommandLine(command, process.argv.slice(2));

/** Returns the rows of a part. A part that throws has a row with the reason. */
async function rowsOf(part: ReturnType<Part>): Promise<readonly Row[]> {
  try {
    return await part;
  } catch (error) {
    // A signal has killed the servers of the part: the process exits after the clean-up.
    if (isStopping()) await new Promise<never>(() => {});
    return [row("completed", messageOf(error), "", "yes", false)];
  }
}

/**
 * Kills the servers of this process, unmounts their file systems and removes their directories. After SIGKILL only the
 * directories and mounts remain.
 */
async function cleanUp(): Promise<void> {
  await Promise.all([...TestServer.running].map((server) => server.killHard()));
  for (const path of mountsIn(temporaryDirectories())) Bun.spawnSync(["umount", "--lazy", path]);
  removeTemporaryDirectories();
}

/** Returns the mount points that the disk tests have created in these directories. */
function mountsIn(directories: readonly string[]): string[] {
  if (process.platform !== "linux") return [];
  const mounted = readFileSync("/proc/self/mounts", "utf8").split("\n");
  const paths = mounted.map((line) => line.split(" ")[1] ?? "");
  return paths.filter((path) =>
    directories.some((directory) => path === directory || path.startsWith(`${directory}/`)),
  );
}
