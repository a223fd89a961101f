import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { available, samplePath } from "../../harness/checkout.ts";
import { startTimeout, TestServer } from "../../harness/server.ts";
import { canMount, SmallDisk } from "../../harness/small-disk.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { openDatabaseOf, type Store, tables } from "../../src/database/index.ts";
import { listFolders } from "../../src/folders/index.ts";
import { DataDirectory } from "../../src/storage/index.ts";
import { canHang, HangingDisk } from "../support/hanging-disk.ts";
import { tinyRecognizer } from "../support/tiny-recognizer.ts";

const jfk = samplePath("jfk.mp3");
const ready = available("e2e tests of folders", jfk);

const listed = Type.Array(
  Type.Object({
    path: Type.String(),
    account: Type.String(),
    formats: Type.Array(Type.String()),
    waiting: Type.Integer(),
    in_progress: Type.Integer(),
    done: Type.Integer(),
    failed: Type.Integer(),
    not_read: Type.Integer(),
    hindrance: Type.Union([Type.String(), Type.Null()]),
    last_visit: Type.Union([Type.String(), Type.Null()]),
  }),
);
const recordingsShape = Type.Array(Type.Object({ status: Type.String() }));

describe.if(ready)("a watched folder of a running server", () => {
  const directory = temporaryDirectory();
  const folder = join(realpathSync(directory.path), "in");
  const server = new TestServer({
    ...tinyRecognizer(),
    TRANSCRIBE_FOLDERS_SCAN_SECONDS: "1",
    TRANSCRIBE_FOLDERS_SETTLE_SECONDS: "2",
    TRANSCRIBE_FOLDERS_INCOMPLETE_MINUTES: "0",
  });

  const command = async (...args: readonly string[]) => {
    const { exitCode, stdout, stderr } = await server.cli(...args);
    expect([exitCode, stderr]).toEqual([0, ""]);
    return stdout;
  };
  const status = async (of = folder) => {
    const folders = Value.Parse(listed, JSON.parse(await command("folders", "list", "--json")));
    const entry = folders.find(({ path }) => path === of);
    if (entry === undefined) throw new Error("no folder is watched");
    return entry;
  };
  /** Returns what the server has stored of a folder. Unlike a command, it starts no process, so tests poll it. */
  const stored = (of = folder) => inStore((store) => listFolders(store).find(({ path }) => path === of));
  const inStore = <T>(work: (store: Store) => T): T => {
    const store = openDatabaseOf(new DataDirectory(server.dataDirectory));
    try {
      return work(store);
    } finally {
      store.$client.close();
    }
  };
  const hasLogged = (name: string) => server.log.some(({ event }) => event === name);
  const recordings = async () =>
    Value.Parse(recordingsShape, JSON.parse(await command("recordings", "list", "--json"))).map((each) => each.status);

  beforeAll(async () => {
    mkdirSync(folder);
    await server.start();
    await command("accounts", "create", "acme");
  }, startTimeout);
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    directory[Symbol.dispose]();
  });

  test(
    "is noticed without a restart; a file that arrives slowly, through three kills, is transcribed once",
    server.showingLog(async () => {
      await command("folders", "add", folder, "--account", "acme", "--format", "srt,docx", "--language", "en");
      // The first hour of the folder is over.
      inStore((store) => store.update(tables.folders).set({ createdAt: 0 }).run());
      writeFileSync(join(folder, "letter.wav"), "no recording");
      const bytes = readFileSync(jfk);
      // A writer that is slower than a visit, and faster than a file settles.
      const pieces = 8;
      for (let piece = 0; piece < pieces; piece++) {
        const [from, to] = [piece, piece + 1].map((each) => Math.ceil((each * bytes.length) / pieces));
        appendFileSync(join(folder, "Größe 🙂.mp3"), bytes.subarray(from, to));
        await Bun.sleep(500);
        if (piece === 3) {
          await server.killHard();
          await server.start(false);
        }
      }
      await server.until(() => hasLogged("folder.taken"), 5);
      await server.killHard();
      await server.start(false);
      await server.until(() => hasLogged("recording.completed"), 5);
      await server.killHard();
      await server.start(false);
      await server.until(() => stored()?.done === 1 && stored()?.failed === 1);

      expect(await recordings()).toEqual(["completed"]);
      expect(readdirSync(folder).sort()).toEqual(
        [".transcribe-folder", "Größe 🙂.docx", "Größe 🙂.srt", "done", "failed"].sort(),
      );
      expect(readdirSync(join(folder, "done"))).toEqual(["Größe 🙂.mp3"]);
      expect(readdirSync(join(folder, "failed")).sort()).toEqual(["letter.wav", "letter.wav.txt"]);
      expect(readFileSync(join(folder, "done/Größe 🙂.mp3"))).toEqual(bytes);
      const srt = readFileSync(join(folder, "Größe 🙂.srt"), "utf8");
      expect(srt).toMatch(/^1\n00:00:0\d,\d{3} --> 00:00:0\d,\d{3}\n\S/);
      expect(readFileSync(join(folder, "failed/letter.wav.txt"), "utf8")).toContain("not an audio or video recording");
      expect(await status()).toMatchObject({
        ...{ path: folder, account: "acme", formats: ["srt", "docx"], hindrance: null },
        ...{ waiting: 0, in_progress: 0, done: 1, failed: 1, not_read: 0 },
      });
      const logged = JSON.stringify(server.log.filter(({ level }) => level !== "debug"));
      expect([logged.includes("Größe"), logged.includes("letter")]).toEqual([false, false]);
    }),
    startTimeout * 2,
  );

  test.if(canMount)(
    "whose results meet a full disk and a kill loses nothing and does nothing twice",
    server.showingLog(async () => {
      const [inbox, outbox] = [join(folder, "../small"), join(folder, "../results")];
      for (const path of [inbox, outbox]) mkdirSync(path);
      using target = new SmallDisk(outbox, "size=64k");
      const format = ["--format", "srt,json", "--language", "en"];
      await command("folders", "add", inbox, "--account", "acme", "--to", outbox, ...format);
      writeFileSync(join(inbox, "full.mp3"), readFileSync(jfk));
      target.fill();
      await server.until(() => stored(inbox)?.hindrance === "target_full");
      await server.killHard();
      const before = stored(inbox)?.seenAt;
      await server.start(false);
      await server.until(() => stored(inbox)?.seenAt !== before);
      // The kill may leave a temporary file, which the next attempt removes, and each attempt makes one for a moment.
      await server.until(() => readdirSync(outbox).join() === "ballast");
      expect((await status(inbox)).hindrance).toBe("target_full");
      expect(readdirSync(inbox).sort()).toEqual([".transcribe-folder", "full.mp3"]);
      target.empty();
      await server.until(() => stored(inbox)?.done === 1);
      expect(readdirSync(outbox).sort()).toEqual(["full.json", "full.srt"]);
      expect(readdirSync(inbox).sort()).toEqual([".transcribe-folder", "done"]);
      expect(readdirSync(join(inbox, "done"))).toEqual(["full.mp3"]);
      expect((await recordings()).filter((each) => each !== "completed")).toEqual([]);
      await command("folders", "remove", inbox);
    }),
    startTimeout * 2,
  );

  test(
    "whose marker is gone is reported by list, doctor and metrics, until it is added again",
    server.showingLog(async () => {
      const marker = join(folder, ".transcribe-folder");
      await Bun.file(marker).delete();
      writeFileSync(join(folder, "second.mp3"), readFileSync(jfk));
      await server.until(() => stored()?.hindrance === "unmarked");
      const doctor = await server.cli("doctor", "--json");
      expect(doctor.stdout).toMatch(
        /"folders\.watched"[\s\S]{0,200}"problem"|"problem"[\s\S]{0,200}"folders\.watched"/,
      );
      const metrics = async () =>
        (await (await fetch(`${server.origin}/metrics`)).text())
          .split("\n")
          .filter((line) => /^transcribe_folder/.test(line));
      expect(await metrics()).toContain('transcribe_folders_hindered{hindrance="unmarked"} 1');
      expect(existsSync(join(folder, "second.mp3"))).toBe(true);
      await command("folders", "add", folder, "--account", "acme", "--format", "txt");
      await server.until(() => stored()?.done === 2);
      expect(readFileSync(join(folder, "second.txt"), "utf8").length).toBeGreaterThan(10);
      // The last server has delivered the first file, too, unless its predecessor had done so.
      expect((await metrics()).join("\n")).toMatch(/transcribe_folder_files_total\{outcome="done"\} [12]/);
      await command("folders", "remove", folder);
      expect([existsSync(marker), existsSync(join(folder, "done/second.mp3"))]).toEqual([false, true]);
    }),
    startTimeout * 2,
  );

  test.if(canHang)(
    "whose mount does not answer delays neither others nor a stop, a kill or a start, and is finished once",
    server.showingLog(async () => {
      const [dead, other] = [join(folder, "../dead"), join(folder, "../other")];
      for (const path of [dead, other]) mkdirSync(path);
      await using disk = await HangingDisk.mount(dead);
      for (const path of [dead, other]) {
        await command("folders", "add", path, "--account", "acme", "--format", "srt", "--language", "en");
      }
      writeFileSync(join(dead, "talk.mp3"), readFileSync(jfk));
      await server.until(async () => (await status(dead)).in_progress === 1);
      disk.hang();
      expect(await server.stop()).toBe(0);
      await server.start(false);
      await server.killHard();
      await server.start();
      writeFileSync(join(other, "letter.mp3"), readFileSync(jfk));
      await server.until(() => stored(other)?.done === 1);
      await server.untilReady();
      expect(await status(dead)).toMatchObject({ in_progress: 1, done: 0, failed: 0 });
      disk.resume();
      await server.until(() => stored(dead)?.done === 1);
      expect(readdirSync(dead).sort()).toEqual([".transcribe-folder", "done", "talk.srt"]);
      expect(readdirSync(join(dead, "done"))).toEqual(["talk.mp3"]);
      for (const path of [dead, other]) await command("folders", "remove", path);
    }),
    startTimeout * 2,
  );
});
