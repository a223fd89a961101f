import { readFileSync } from "node:fs";
import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { TestServer } from "../../harness/server.ts";
import { removeTemporaryDirectories, temporaryDirectories } from "../../harness/temporary-directory.ts";
import { messageOf } from "../../src/text/index.ts";
import { beforeStop, isStopping } from "../shared/processes.ts";
import { backup } from "./backup.ts";
import { brokenDisk, disk } from "./disk.ts";
import { fleet } from "./fleet.ts";
import { hostile } from "./hostile.ts";
import { eighteen, hours } from "./hours.ts";
import { kills } from "./kills.ts";
import { load } from "./load.ts";
import { partitions } from "./partitions.ts";
import type { Part, Row } from "./row.ts";
import { store } from "./store.ts";
import { stuck } from "./stuck.ts";

const parts: Readonly<Record<string, { readonly does: string; readonly run: Part }>> = {
  hours: { does: "a recording of 2 hours, all steps", run: hours },
  eighteen: { does: "a recording of 18 hours, all steps except transcription", run: eighteen },
  store: { does: "segments of 18 hours: built, stored, read in pages and exports", run: store },
  kills: {
    does: "server and worker killed 50 times while they process five recordings",
    run: (options) => kills(options),
  },
  fleet: {
    does: "coordinator, broker and workers of a fleet killed 50 times and stopped meanwhile",
    run: (options) => fleet(options),
  },
  stuck: { does: "a stopped worker, idle and during a chunk", run: stuck },
  disk: { does: "recordings on a disk that fills up repeatedly", run: disk },
  "broken-disk": { does: "a disk that the kernel remounts read-only (needs root)", run: brokenDisk },
  backup: { does: "backups of a busy server, restored elsewhere", run: backup },
  load: { does: "many clients at once, slow clients and cut uploads", run: load },
  hostile: { does: "malicious files", run: hostile },
  partitions: {
    does: "a worker of a fleet cut off from the broker 30 times (needs root)",
    run: (options) => partitions(options),
  },
};

const width = Math.max(...Object.keys(parts).map((name) => name.length));
const usage = `Tests long recordings, crashes and full disks: scripts/endurance [PART…] [OPTION…]
Starts servers of this checkout with data directories of their own and prints a table of results. Without a PART, runs
all parts, which takes hours. Exits with 1 when a result misses its target.

${Object.entries(parts)
  .map(([name, { does }]) => `  ${name.padEnd(width)}  ${does}`)
  .join("\n")}

  --seed N   seed of the random choices (default: 1)
  --hours N  length of the recordings of hours, eighteen and store
  --json     print the table as JSON`;

const options = {
  seed: { type: "string", default: "1" },
  hours: { type: "string" },
  json: { type: "boolean", default: false },
  help: { type: "boolean", short: "h", default: false },
} as const;

const { values, positionals } = readArguments();
if (values.help) {
  console.log(usage);
  process.exit(0);
}
const seed = Number(values.seed);
if (!Number.isSafeInteger(seed)) refuse(`--seed is a whole number, not ${values.seed}`);
const wantedHours = values.hours === undefined ? null : Number(values.hours);
if (wantedHours !== null && !(wantedHours > 0)) refuse(`--hours is a number above 0, not ${values.hours}`);
const unknown = positionals.filter((name) => parts[name] === undefined);
if (unknown.length > 0) refuse(`unknown part ${unknown.join(", ")}; the parts are ${Object.keys(parts).join(", ")}`);

beforeStop(cleanUp);
const rows: (Row & { readonly part: string })[] = [];
for (const [name, { run }] of Object.entries(parts)) {
  if (positionals.length > 0 && !positionals.includes(name)) continue;
  const reportProgress = (text: string) => {
    if (process.stderr.isTTY) console.error(`${name}: ${text}`);
  };
  try {
    for (const row of await run({ seed, hours: wantedHours, reportProgress: reportProgress }))
      rows.push({ part: name, ...row });
  } catch (error) {
    // A signal has killed the servers of the part: the process exits after the clean-up.
    if (isStopping()) await new Promise<never>(() => {});
    rows.push({ part: name, measured: "completed", value: messageOf(error), over: "", target: "yes", ok: false });
  }
}
if (values.json) {
  const machine = `${cpus().length} × ${cpus()[0]?.model.trim() ?? "unknown processor"}`;
  console.log(JSON.stringify({ seed, machine, rows }, null, 2));
} else {
  printTable(rows);
}
process.exit(rows.every(({ ok }) => ok) ? 0 : 1);

function printTable(table: typeof rows): void {
  const lines = table.map((row) => [row.part, row.measured, row.value, row.target, row.ok ? "ok" : "NOT OK", row.over]);
  const widths = [0, 1, 2, 3, 4].map((column) => Math.max(...lines.map((line) => (line[column] ?? "").length)));
  for (const line of lines) {
    console.log(
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    );
  }
}

function readArguments() {
  try {
    return parseArgs({ args: process.argv.slice(2), options, allowPositionals: true });
  } catch (error) {
    return refuse(messageOf(error).split(". ")[0] ?? "");
  }
}

function refuse(why: string): never {
  console.error(`endurance: ${why}; scripts/endurance --help lists the options`);
  process.exit(2);
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
