import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { tinyModel, writeRandomModel } from "../../../harness/parakeet/random-model.ts";
import { temporaryDirectory } from "../../../harness/temporary-directory.ts";
import { openDatabase, readDatabase } from "../../../src/database/index.ts";
import type { CheckContext } from "../../../src/diagnostics/doctor/check.ts";
import { thisMachine } from "../../../src/diagnostics/doctor/machine.ts";
import type { Finding } from "../../../src/diagnostics/index.ts";
import { importModels, ModelLibrary, parseLanguageRoutes, SpeechModels } from "../../../src/models/index.ts";
import { DataDirectory, DataPaths } from "../../../src/storage/index.ts";
import { contextOf, runCheck } from "./support.ts";

/** A data directory as a server leaves it, next to other files, with the checks of it on this machine. */
class TestData implements Disposable {
  readonly #directory = temporaryDirectory();
  readonly root = this.at("data");
  readonly paths = new DataPaths(this.root);

  constructor() {
    openDatabase(new DataDirectory(this.root).databasePath).$client.close();
  }

  /** Returns a path outside of the data directory. */
  at(name: string): string {
    return join(this.#directory.path, name);
  }

  check(id: string, more: Partial<CheckContext> = {}): Promise<Finding> {
    const machine = thisMachine(new AbortController().signal);
    return runCheck(id, contextOf({}, { paths: this.paths, data: "present", machine, ...more }));
  }

  async checkDatabase(id: string): Promise<Finding> {
    const database = readDatabase(this.paths.databasePath);
    const found = await this.check(id, { database });
    database.$client.close();
    return found;
  }

  [Symbol.dispose](): void {
    this.#directory[Symbol.dispose]();
  }
}

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);
/** Returns the names and times of all files, which show whether anything was changed. */
const traces = (root: string) =>
  readdirSync(root, { recursive: true })
    .sort()
    .map((name) => `${name} ${statSync(join(root, String(name))).mtimeMs}`);

describe("the checks of a data directory", () => {
  test("find no fault in a good one, and change nothing", async () => {
    using data = new TestData();
    const before = traces(data.root);
    for (const id of ["data.directory", "data.rights", "data.leftovers", "database.integrity", "database.version"]) {
      expect([id, (await data.checkDatabase(id)).status]).toEqual([id, "ok"]);
    }
    expect(traces(data.root)).toEqual(before);
  });

  test("find permissions of others and remove them, but not through links", async () => {
    using data = new TestData();
    const { root } = data;
    const [outside, elsewhere] = [data.at("outside"), data.at("elsewhere/file")];
    symlinkSync(outside, join(root, "link"));
    mkdirSync(data.at("elsewhere"));
    for (const path of [outside, elsewhere]) {
      writeFileSync(path, "");
      chmodSync(path, 0o644);
    }
    chmodSync(root, 0o755);
    const found = await data.check("data.rights");
    expect([found.status, found.summary]).toEqual(["warning", expect.stringContaining("others may read")]);
    await found.repair?.apply();
    expect((await data.check("data.rights")).status).toBe("ok");
    expect([root, outside, elsewhere].map(modeOf)).toEqual(["700", "644", "644"]);
  });

  test("find a key with permissions of others even in a closed directory", async () => {
    using data = new TestData();
    const { root } = data;
    writeFileSync(join(root, "first-key"), "trs_…");
    chmodSync(join(root, "first-key"), 0o640);
    const found = await data.check("data.rights");
    expect([found.status, found.detail]).toEqual(["warning", [expect.stringContaining("first-key")]]);
    await found.repair?.apply();
    expect(modeOf(join(root, "first-key"))).toBe("600");
  });

  test("remove files of interrupted uploads, but no targets of links, and nothing while a server runs", async () => {
    using data = new TestData();
    const { paths } = data;
    const outside = data.at("outside");
    writeFileSync(outside, "mine");
    writeFileSync(join(paths.incoming, "left"), "xxx");
    symlinkSync(outside, join(paths.incoming, "link"));
    const server = { pid: 1, version: "0", origin: "http://127.0.0.1:1", modelSetting: "", certificate: null };
    expect((await data.check("data.leftovers", { server })).status).toBe("skipped");
    const found = await data.check("data.leftovers");
    expect([found.status, found.summary]).toEqual(["warning", "1 file of interrupted uploads, 3 bytes"]);

    const unlock = new DataDirectory(paths.root).lock();
    expect(() => found.repair?.apply()).toThrow("a server uses the data directory");
    unlock();
    expect(existsSync(join(paths.incoming, "left"))).toBe(true);

    await found.repair?.apply();
    expect([existsSync(join(paths.incoming, "left")), readFileSync(outside, "utf8")]).toEqual([false, "mine"]);
    expect((await data.check("data.leftovers")).status).toBe("ok");
  });

  test("find and remove damaged self-test results and the state file of a server that exited", async () => {
    using data = new TestData();
    const { paths } = data;
    writeFileSync(paths.verdicts, "{");
    writeFileSync(join(paths.state, "server.json"), '{"pid": 999999999, "origin": "http://127.0.0.1:1"}');
    for (const id of ["cpu.verdicts", "server.running"]) {
      const found = await data.check(id);
      expect([id, found.status]).toEqual([id, "warning"]);
      await found.repair?.apply();
      expect([id, (await data.check(id)).status]).toEqual([id, "skipped"]);
    }
    expect(readdirSync(paths.state)).toEqual([]);
  });

  test("report a damaged database, whose version is then unknown", async () => {
    using data = new TestData();
    const { paths } = data;
    const bytes = readFileSync(paths.databasePath);
    bytes.fill(0xff, 4096, 4096 * 6);
    writeFileSync(paths.databasePath, bytes);
    const found = await data.checkDatabase("database.integrity");
    expect([found.status, found.advice]).toEqual(["problem", expect.stringContaining("transcribe restore")]);
    writeFileSync(paths.databasePath, "no database at all");
    expect((await data.checkDatabase("database.version")).status).toBe("skipped");
  });

  test("report a database of a later version, with advice to go back", async () => {
    using data = new TestData();
    const { paths } = data;
    const later = new Database(paths.databasePath);
    later.run("INSERT INTO migrations VALUES (99, '9999-later', 'x')");
    later.close();
    const found = await data.checkDatabase("database.version");
    expect([found.status, found.advice]).toEqual(["problem", expect.stringContaining("transcribe restore")]);
  });

  test("report a clock before the newest recording", async () => {
    using data = new TestData();
    const { paths } = data;
    const client = new Database(paths.databasePath);
    client.run("PRAGMA foreign_keys = OFF");
    const columns = client
      .query<{ name: string; notnull: number; dflt_value: string | null }, []>("PRAGMA table_info(recordings)")
      .all();
    const needed = columns.filter((column) => column.notnull === 1 && column.dflt_value === null);
    const values: Record<string, string | number> = { status: "completed", created_at: Date.parse("2030-01-01") };
    client.run(
      `INSERT INTO recordings (${needed.map(({ name }) => name).join()}) VALUES (${needed.map(() => "?").join()})`,
      needed.map(({ name }) => values[name] ?? 0),
    );
    client.close();
    const found = await data.checkDatabase("system.clock");
    expect([found.status, found.summary]).toEqual(["problem", expect.stringContaining("2030-01-01")]);
  });
});

describe("the checks of a model that detects no languages", () => {
  test("name the models that recognize other languages, and announce no self-test of an encoder that it has not", async () => {
    using data = new TestData();
    const path = data.at("european.bin");
    writeRandomModel(path, { ...tinyModel, vocabulary: 8192 });
    const { paths } = data;
    const library = new ModelLibrary(paths.models);
    await importModels(path, { ...{ library, catalogue: [], name: "greek", inspect: () => {} }, onProgress: () => {} });
    const routes = parseLanguageRoutes(["el bg: greek"]);
    const speechModels = new SpeechModels({
      ...{ store: openDatabase(":memory:"), library, builtInPath: path, setting: path, routes },
    });
    const own = { speechModels, speechModel: speechModels.current() };
    expect(await data.check("model.whisper", own)).toMatchObject({
      status: "ok",
      summary: `${path}, 25 languages, checksum unknown; whisper-base detects the language and recognizes those that no other model knows; greek recognizes bg, el`,
    });
    expect(await data.check("engine.encoder", own)).toMatchObject({
      status: "skipped",
      summary: "a model of this family computes its encoder itself",
    });
  });
});
