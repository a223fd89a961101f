import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { samplePath } from "../../harness/checkout.ts";
import { TestClient } from "../../harness/client.ts";
import { becomesTrue } from "../../harness/load-clients.ts";
import { randomNumbers } from "../../harness/random-numbers.ts";
import { makeLongRecording } from "../../harness/sample-recordings.ts";
import { TestServer } from "../../harness/server.ts";
import { canMount, SmallDisk } from "../../harness/small-disk.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { messageOf } from "../../src/text/index.ts";
import { runCommand } from "../shared/run-command.ts";
import { integrityOf } from "./rounds.ts";
import { all, none, notRun, type PartOptions, type Row, row } from "./rows.ts";

const DISTURBANCES = 12;
const SETTINGS = { TRANSCRIBE_STORAGE_RESERVE_BYTES: "8 MiB" } as const;

/**
 * disk: processes five recordings on a disk of 96 MiB. At random moments the disk is full or out of inodes, or the
 * server reaches its limit of open files. No recording may fail or lose a word, and reads must always succeed.
 */
export async function disk({ seed, reportProgress }: PartOptions): Promise<Row[]> {
  if (!canMount) return notRun("disk", "mounting needs root");
  const random = randomNumbers(seed);
  using folder = temporaryDirectory();
  await using server = new TestServer(SETTINGS);
  using root = new SmallDisk(server.dataDirectory, "size=96m,mode=700");
  const workPath = join(server.dataDirectory, "work");
  mkdirSync(workPath, { mode: 0o700 });
  using work = new SmallDisk(workPath, "size=48m,nr_inodes=5000,mode=700");
  const long = await makeLongRecording(folder.path);
  const sources = [long, samplePath("sample.wav"), samplePath("jfk.mp3"), long, samplePath("jfk.mp3")];
  await server.start();
  const client = server.client("disk");
  const undisturbed = new Map<string, string>();
  for (const source of new Set(sources)) {
    const { segments } = await client.transcribe(source, { language: "en" });
    undisturbed.set(source, JSON.stringify(segments));
  }
  const allow = (files: number) => Bun.spawnSync(["prlimit", "--pid", String(server.pid), `--nofile=${files}:`]);
  const disturbances = [
    { name: "disk full", begin: () => root.fill(), end: () => root.empty() },
    { name: "disk of work files full", begin: () => work.fill(), end: () => work.empty() },
    { name: "too many open files", begin: () => allow(16), end: () => allow(4096) },
  ];
  const reads: number[] = [];
  const creates: number[] = [];
  const since = server.log.length;
  const ids = new Map<string, string>();
  for (const source of sources) ids.set((await client.create(source, { language: "en" })).id, source);
  let begun = 0;
  for (; begun < DISTURBANCES && (await isAnyOpen(client)); begun++) {
    await Bun.sleep(random() * 4000);
    const disturbance = disturbances[Math.floor(random() * disturbances.length)];
    if (disturbance === undefined) break;
    reportProgress(disturbance.name);
    disturbance.begin();
    try {
      await Bun.sleep(500 + random() * 2500);
      // At its limit of open files the server accepts no connection, so its clients wait.
      if (disturbance.name !== "too many open files") reads.push(...(await statusesOf(client, ids.keys())));
      if (disturbance.name === "disk full") creates.push((await client.send(samplePath("jfk.mp3"))).status);
    } finally {
      disturbance.end();
    }
  }
  let completed = 0;
  let equal = 0;
  for (const [id, source] of ids) {
    if ((await client.waitUntilEnded(id)).status !== "completed") continue;
    completed += 1;
    if (JSON.stringify(await client.segments(id)) === undisturbed.get(source)) equal += 1;
  }
  const waited = server.log.slice(since).filter(({ event }) => event === "recording.waits").length;
  await server.stop();
  const stray = ["work", "incoming"].flatMap((name) => readdirSync(join(server.dataDirectory, name)));
  const over = `${begun} disturbances, ${waited} waits of a recording`;
  return [
    all("recordings completed", completed, ids.size, over),
    all("segments as without disturbances", equal, ids.size, over),
    none("failed reads during disturbances", reads.filter((status) => status !== 200).length, `${reads.length} GETs`),
    none(
      "creates on a full disk, not 503",
      creates.filter((status) => status !== 503).length,
      `${creates.length} POSTs`,
    ),
    none("stray files", stray, "work, incoming"),
    integrityRow(server, "the database"),
  ];
}

async function isAnyOpen(client: TestClient): Promise<boolean> {
  const page = JSON.parse(await (await client.fetch("/transcriptions?status=queued,processing")).text());
  return page.data.length > 0;
}

/** Reads the list and each recording. @returns the statuses of the responses */
async function statusesOf(client: TestClient, ids: Iterable<string>): Promise<number[]> {
  const statuses: number[] = [];
  for (const path of ["/transcriptions", ...[...ids].map((id) => `/transcriptions/${id}`)]) {
    statuses.push((await client.fetch(path)).status);
  }
  return statuses;
}

function integrityRow(server: TestServer, over: string): Row {
  const integrity = integrityOf(server);
  return row("integrity_check", integrity, over, "ok", integrity === "ok");
}

/**
 * broken-disk: processes recordings on an ext4 file system in a file. An error during processing makes the kernel
 * remount it read-only. Reads must still succeed, and all recordings must complete after e2fsck and a restart.
 */
export async function brokenDisk({ reportProgress }: PartOptions): Promise<Row[]> {
  using folder = temporaryDirectory();
  const image = join(folder.path, "disk.img");
  await using server = new TestServer(SETTINGS);
  const mount = () => runCommand(["mount", "-o", "loop,errors=remount-ro", image, server.dataDirectory]);
  try {
    await runCommand(["truncate", "-s", "128M", image]);
    await runCommand(["mkfs.ext4", "-q", "-F", image]);
    await mount();
  } catch (error) {
    return notRun("broken disk", messageOf(error));
  }
  try {
    const device = (await runCommand(["findmnt", "-no", "SOURCE", server.dataDirectory])).trim();
    const fault = `/sys/fs/ext4/${basename(device)}/trigger_fs_error`;
    if (!existsSync(fault)) return notRun("broken disk", "this kernel cannot inject file system errors");
    mkdirSync(join(server.dataDirectory, "work"), { mode: 0o700 });
    await server.start();
    const client = server.client("broken");
    const { ended, segments } = await client.transcribe(samplePath("sample.wav"));
    const ids: string[] = [];
    for (let count = 0; count < 3; count++) ids.push((await client.create(samplePath("sample.wav"))).id);
    const since = server.log.length;
    await server.until(async () => (await client.get(ids[0] ?? "")).status === "processing");
    reportProgress("injecting a file system error");
    writeFileSync(fault, "an endurance test of transcribe");
    await server.until(() => server.log.slice(since).some(({ event }) => event === "recording.waits"));
    const reads = await statusesOf(client, [`${ended.id}/segments`, ended.id, ...ids]);
    const { status } = await client.send(samplePath("jfk.mp3"));
    await server.killHard();
    // The worker and ffmpeg exit a moment after the server.
    await becomesTrue(() => Bun.spawnSync(["umount", server.dataDirectory]).exitCode === 0);
    Bun.spawnSync(["e2fsck", "-fy", image]);
    await mount();
    reportProgress("the file system is repaired");
    await server.start();
    const again = new TestClient(server.baseUrl, client.key);
    let equal = 0;
    for (const id of ids) {
      const { status } = await again.waitUntilEnded(id);
      if (status === "completed" && Bun.deepEquals(await again.segments(id), segments)) equal += 1;
    }
    await server.stop();
    const over = "ext4, remounted read-only by the kernel";
    return [
      none("failed reads", reads.filter((status) => status !== 200).length, over),
      row("create", status, over, "503", status === 503),
      all("results as without the disturbance", equal, ids.length, "after e2fsck"),
      integrityRow(server, "after e2fsck"),
    ];
  } finally {
    Bun.spawnSync(["umount", "-l", server.dataDirectory]);
  }
}
