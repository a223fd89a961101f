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
import type { CheckContext } from "../../../src/diagnostics/doctor/check.ts";
import { thisMachine } from "../../../src/diagnostics/doctor/machine.ts";
import { importModels, ModelLibrary, parseLanguageRoutes, SpeechModels } from "../../../src/models/index.ts";
import { DataDirectory, DataPaths, openDatabase, readDatabase } from "../../../src/storage/index.ts";
import { contextOf, runCheck } from "./support.ts";

/** Creates a data directory as a server leaves it, and a context for it on this machine. */
function dataIn(path: string): {
  root: string;
  paths: DataPaths;
  context: (more?: Partial<CheckContext>) => CheckContext;
} {
  const root = join(path, "data");
  openDatabase(new DataDirectory(root).databasePath).$client.close();
  const paths = new DataPaths(root);
  const signal = new AbortController().signal;
  return {
    root,
    paths,
    context: (more) => contextOf({}, { paths, data: "present", machine: thisMachine(signal), ...more }),
  };
}

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);
/** Returns the names and times of all files, which show whether anything was changed. */
const traces = (root: string) =>
  readdirSync(root, { recursive: true })
    .sort()
    .map((name) => `${name} ${statSync(join(root, String(name))).mtimeMs}`);

describe("the checks of a data directory", () => {
  test("find no fault in a good one, and change nothing", async () => {
    using directory = temporaryDirectory();
    const { root, paths, context } = dataIn(directory.path);
    const before = traces(root);
    const database = readDatabase(paths.databasePath);
    for (const id of ["data.directory", "data.rights", "data.leftovers", "database.integrity", "database.version"]) {
      expect([id, (await runCheck(id, context({ database }))).status]).toEqual([id, "ok"]);
    }
    database.$client.close();
    expect(traces(root)).toEqual(before);
  });

  test("find permissions of others and remove them, but not through links", async () => {
    using directory = temporaryDirectory();
    const { root, context } = dataIn(directory.path);
    const outside = join(directory.path, "outside");
    writeFileSync(outside, "", { mode: 0o644 });
    symlinkSync(outside, join(root, "link"));
    mkdirSync(join(directory.path, "elsewhere"));
    writeFileSync(join(directory.path, "elsewhere", "file"), "");
    for (const [path, mode] of [
      [root, 0o755],
      [outside, 0o644],
      [join(directory.path, "elsewhere", "file"), 0o644],
    ] as const) {
      chmodSync(path, mode);
    }
    const found = await runCheck("data.rights", context());
    expect([found.status, found.summary]).toEqual(["warning", expect.stringContaining("others may read")]);
    await found.repair?.apply();
    expect((await runCheck("data.rights", context())).status).toBe("ok");
    expect([modeOf(root), modeOf(outside), modeOf(join(directory.path, "elsewhere", "file"))]).toEqual([
      "700",
      "644",
      "644",
    ]);
  });

  test("find a key with permissions of others even in a closed directory", async () => {
    using directory = temporaryDirectory();
    const { root, context } = dataIn(directory.path);
    writeFileSync(join(root, "first-key"), "trs_…");
    chmodSync(join(root, "first-key"), 0o640);
    const found = await runCheck("data.rights", context());
    expect([found.status, found.detail]).toEqual(["warning", [expect.stringContaining("first-key")]]);
    await found.repair?.apply();
    expect(modeOf(join(root, "first-key"))).toBe("600");
  });

  test("remove files of interrupted uploads, but no targets of links, and nothing while a server runs", async () => {
    using directory = temporaryDirectory();
    const { paths, context } = dataIn(directory.path);
    const outside = join(directory.path, "outside");
    writeFileSync(outside, "mine");
    writeFileSync(join(paths.incoming, "left"), "xxx");
    symlinkSync(outside, join(paths.incoming, "link"));
    const server = { pid: 1, version: "0", origin: "http://127.0.0.1:1", modelSetting: "", certificate: null };
    expect((await runCheck("data.leftovers", context({ server }))).status).toBe("skipped");
    const found = await runCheck("data.leftovers", context());
    expect([found.status, found.summary]).toEqual(["warning", "1 file of interrupted uploads, 3 bytes"]);

    const unlock = new DataDirectory(paths.root).lock();
    expect(() => found.repair?.apply()).toThrow("a server uses the data directory");
    unlock();
    expect(existsSync(join(paths.incoming, "left"))).toBe(true);

    await found.repair?.apply();
    expect([existsSync(join(paths.incoming, "left")), readFileSync(outside, "utf8")]).toEqual([false, "mine"]);
    expect((await runCheck("data.leftovers", context())).status).toBe("ok");
  });

  test("find and remove damaged self-test results and the state file of a server that exited", async () => {
    using directory = temporaryDirectory();
    const { paths, context } = dataIn(directory.path);
    writeFileSync(paths.verdicts, "{");
    writeFileSync(join(paths.state, "server.json"), '{"pid": 999999999, "origin": "http://127.0.0.1:1"}');
    for (const id of ["cpu.verdicts", "server.running"]) {
      const found = await runCheck(id, context());
      expect([id, found.status]).toEqual([id, "warning"]);
      await found.repair?.apply();
      expect([id, (await runCheck(id, context())).status]).toEqual([id, "skipped"]);
    }
    expect(readdirSync(paths.state)).toEqual([]);
  });

  test("report a damaged database, whose version is then unknown", async () => {
    using directory = temporaryDirectory();
    const { paths, context } = dataIn(directory.path);
    const bytes = readFileSync(paths.databasePath);
    bytes.fill(0xff, 4096, 4096 * 6);
    writeFileSync(paths.databasePath, bytes);
    const database = readDatabase(paths.databasePath);
    const found = await runCheck("database.integrity", context({ database }));
    expect([found.status, found.advice]).toEqual(["problem", expect.stringContaining("transcribe restore")]);
    database.$client.close();
    writeFileSync(paths.databasePath, "no database at all");
    const other = readDatabase(paths.databasePath);
    expect((await runCheck("database.version", context({ database: other }))).status).toBe("skipped");
    other.$client.close();
  });

  test("report a database of a later version, with advice to go back", async () => {
    using directory = temporaryDirectory();
    const { paths, context } = dataIn(directory.path);
    const later = new Database(paths.databasePath);
    later.run("INSERT INTO migrations VALUES (99, '9999-later', 'x')");
    later.close();
    const database = readDatabase(paths.databasePath);
    const found = await runCheck("database.version", context({ database }));
    expect([found.status, found.advice]).toEqual(["problem", expect.stringContaining("transcribe restore")]);
    database.$client.close();
  });

  test("report a clock before the newest recording", async () => {
    using directory = temporaryDirectory();
    const { paths, context } = dataIn(directory.path);
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
    const database = readDatabase(paths.databasePath);
    const found = await runCheck("system.clock", context({ database }));
    expect([found.status, found.summary]).toEqual(["problem", expect.stringContaining("2030-01-01")]);
    database.$client.close();
  });
});

describe("the checks of a model that detects no languages", () => {
  test("name the models that recognize other languages, and announce no self-test of an encoder that it has not", async () => {
    using directory = temporaryDirectory();
    const path = join(directory.path, "european.bin");
    writeRandomModel(path, { ...tinyModel, vocabulary: 8192 });
    const { paths, context } = dataIn(directory.path);
    const library = new ModelLibrary(paths.models);
    await importModels(path, { ...{ library, catalogue: [], name: "greek", inspect: () => {} }, onProgress: () => {} });
    const routes = parseLanguageRoutes(["el bg: greek"]);
    const speechModels = new SpeechModels({
      ...{ store: openDatabase(":memory:"), library, builtInPath: path, setting: path, routes },
    });
    const own = context({ speechModels, speechModel: speechModels.current() });
    expect(await runCheck("model.whisper", own)).toMatchObject({
      status: "ok",
      summary: `${path}, 25 languages, checksum unknown; whisper-base detects the language and recognizes those that no other model knows; greek recognizes bg, el`,
    });
    expect(await runCheck("engine.encoder", own)).toMatchObject({
      status: "skipped",
      summary: "a model of this family computes its encoder itself",
    });
  });
});
