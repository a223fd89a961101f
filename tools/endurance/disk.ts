import { Database } from "bun:sqlite";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { samplePath } from "../../harness/checkout.ts";
import { TestClient } from "../../harness/client.ts";
import { randomNumbers } from "../../harness/random-numbers.ts";
import { makeLongRecording } from "../../harness/sample-recordings.ts";
import { TestServer } from "../../harness/server.ts";
import { canMount, SmallDisk } from "../../harness/small-disk.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import type { PartOptions, Row } from "./row.ts";

/** A disturbance of the machine during processing, and its reversal. */
interface Disturbance {
  readonly name: string;
  begin(): void;
  end(): void;
}

const DISTURBANCES = 12;

/**
 * disk: processes five recordings on a disk of 96 MiB. At random moments the disk is full or out of inodes, or the
 * server reaches its limit of open files. No recording may fail or lose a word, and reads must always succeed.
 */
export async function disk({ seed, reportProgress }: PartOptions): Promise<Row[]> {
  if (!canMount) return [{ measured: "disk", value: "not run", over: "mounting needs root", target: "", ok: false }];
  const random = randomNumbers(seed);
  using folder = temporaryDirectory();
  await using server = new TestServer({ TRANSCRIBE_STORAGE_RESERVE_BYTES: "8 MiB" });
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
  const disturbances: Disturbance[] = [
    { name: "disk full", begin: () => root.fill(), end: () => root.empty() },
    { name: "disk of work files full", begin: () => work.fill(), end: () => work.empty() },
    { name: "too many open files", begin: () => allow(16), end: () => allow(4096) },
  ];
  const counts = { refused: 0, otherwise: 0, read: 0, unread: 0 };
  const since = server.log.length;
  const ids = new Map<string, string>();
  for (const source of sources) ids.set((await client.create(source, { language: "en" })).id, source);
  let begun = 0;
  for (; begun < DISTURBANCES && (await countOpen(client)) > 0; begun++) {
    await Bun.sleep(random() * 4000);
    const disturbance = disturbances[Math.floor(random() * disturbances.length)] as Disturbance;
    reportProgress(disturbance.name);
    disturbance.begin();
    try {
      await Bun.sleep(500 + random() * 2500);
      // At its limit of open files the server accepts no connection, so its clients wait.
      if (disturbance.name !== "too many open files") await countReads(client, [...ids.keys()], counts);
      if (disturbance.name === "disk full") {
        const { status } = await client.send(samplePath("jfk.mp3"));
        if (status === 503) counts.refused += 1;
        else counts.otherwise += 1;
      }
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
    row("recordings completed", `${completed} of ${ids.size}`, over, "all", completed === ids.size),
    row("segments as without disturbances", `${equal} of ${ids.size}`, over, "all", equal === ids.size),
    row(
      "reads during disturbances",
      `${counts.unread} failed`,
      `${counts.read + counts.unread} GETs`,
      "none",
      counts.unread === 0,
    ),
    row(
      "creates on a full disk",
      `${counts.otherwise} not 503`,
      `${counts.refused + counts.otherwise} POSTs`,
      "none",
      counts.otherwise === 0,
    ),
    row("stray files", String(stray.length), "work, incoming", "none", stray.length === 0),
    row("integrity_check", integrityOf(server), "the database", "ok", integrityOf(server) === "ok"),
  ];
}

function row(measured: string, value: string, over: string, target: string, ok: boolean): Row {
  return { measured, value, over, target, ok };
}

async function countOpen(client: TestClient): Promise<number> {
  const page = JSON.parse(await (await client.fetch("/transcriptions?status=queued,processing")).text());
  return page.data.length;
}

async function countReads(client: TestClient, ids: readonly string[], counts: { read: number; unread: number }) {
  for (const path of ["/transcriptions", ...ids.map((id) => `/transcriptions/${id}`)]) {
    const { status } = await client.fetch(path);
    if (status === 200) counts.read += 1;
    else counts.unread += 1;
  }
}

/**
 * broken-disk: processes recordings on an ext4 file system in a file. An error during processing makes the kernel
 * remount it read-only. Reads must still succeed, and all recordings must complete after e2fsck and a restart.
 */
export async function brokenDisk({ reportProgress }: PartOptions): Promise<Row[]> {
  using folder = temporaryDirectory();
  const image = join(folder.path, "disk.img");
  await using server = new TestServer({ TRANSCRIBE_STORAGE_RESERVE_BYTES: "8 MiB" });
  const mount = () => run("mount", "-o", "loop,errors=remount-ro", image, server.dataDirectory);
  try {
    run("truncate", "-s", "128M", image);
    run("mkfs.ext4", "-q", "-F", image);
    mount();
  } catch (error) {
    return [{ measured: "broken disk", value: "not run", over: String(error), target: "", ok: false }];
  }
  try {
    const fault = `/sys/fs/ext4/${basename(run("findmnt", "-no", "SOURCE", server.dataDirectory).trim())}/trigger_fs_error`;
    if (!existsSync(fault)) {
      return [
        {
          measured: "broken disk",
          value: "not run",
          over: "this kernel cannot inject file system errors",
          target: "",
          ok: false,
        },
      ];
    }
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
    let unread = 0;
    const paths = [ended.id, ...ids].map((id) => `/transcriptions/${id}`);
    for (const path of ["/transcriptions", `/transcriptions/${ended.id}/segments`, ...paths]) {
      if ((await client.fetch(path)).status !== 200) unread += 1;
    }
    const { status } = await client.send(samplePath("jfk.mp3"));
    await server.killHard();
    // The worker and ffmpeg exit a moment after the server.
    await server.until(() => Bun.spawnSync(["umount", server.dataDirectory]).exitCode === 0);
    Bun.spawnSync(["e2fsck", "-fy", image]);
    mount();
    reportProgress("the file system is repaired");
    await server.start();
    const again = new TestClient(server.baseUrl, client.key);
    let equal = 0;
    for (const id of ids) {
      const one = await again.waitUntilEnded(id);
      if (one.status === "completed" && Bun.deepEquals(await again.segments(id), segments)) equal += 1;
    }
    await server.stop();
    const integrity = integrityOf(server);
    const over = "ext4, remounted read-only by the kernel";
    return [
      { measured: "reads", value: `${unread} failed`, over, target: "none", ok: unread === 0 },
      { measured: "create", value: String(status), over, target: "503", ok: status === 503 },
      {
        measured: "results as without the disturbance",
        value: `${equal} of ${ids.length}`,
        over: "after e2fsck",
        target: "all",
        ok: equal === ids.length,
      },
      { measured: "integrity_check", value: integrity, over: "after e2fsck", target: "ok", ok: integrity === "ok" },
    ];
  } finally {
    Bun.spawnSync(["umount", "-l", server.dataDirectory]);
  }
}

function run(...command: readonly string[]): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync([...command]);
  if (exitCode !== 0) throw new Error(`${command.join(" ")}: ${stderr}`);
  return stdout.toString();
}

function integrityOf(server: TestServer): string {
  using database = new Database(join(server.dataDirectory, "transcribe.db"), { readonly: true });
  return String(database.query<Record<string, string>, []>("PRAGMA integrity_check").get()?.integrity_check);
}
