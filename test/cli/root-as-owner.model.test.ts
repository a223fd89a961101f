import { Database } from "bun:sqlite";
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { Type } from "@sinclair/typebox";
import { available } from "../../harness/checkout.ts";
import { tinyModel, writeRandomModel } from "../../harness/parakeet/random-model.ts";
import { resultOf } from "../../harness/processes.ts";
import { isFromSource, programCommand, programSettings } from "../../harness/program.ts";
import { runCli } from "../../harness/server.ts";
import { canMount } from "../../harness/small-disk.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { smallWhisper } from "../../harness/whisper/small-models.ts";
import { basePath } from "../support/whisper.ts";
import { fillDataDirectory } from "./fill-data-directory.ts";
import { withReachableProgram } from "./reachable-program.ts";
import { Commands, shapes } from "./support.ts";

// Each command is a separate process, which starts slowly on a busy machine.
setDefaultTimeout(180_000);

const isRoot = process.geteuid?.() === 0;
if (!isRoot) console.warn("SKIPPED: root in a data directory of another user; it takes root");

/** A user without a name, and so without additional groups. */
const owner = 54_321;
const anything = Type.Object({}, { additionalProperties: true });

function give(path: string): void {
  lchownSync(path, owner, owner);
  if (!lstatSync(path).isDirectory()) return;
  for (const name of readdirSync(path)) give(join(path, name));
}

/** A data directory of the owner with one queued recording, and a directory of root that commands must not touch. */
function place() {
  const scope = temporaryDirectory();
  chmodSync(scope.path, 0o755);
  const outside = join(scope.path, "outside");
  mkdirSync(join(outside, "kept"), { recursive: true });
  chmodSync(outside, 0o700);
  writeFileSync(join(outside, "secret"), "root's alone", { mode: 0o600 });
  const {
    directory,
    ids: [id = ""],
  } = fillDataDirectory(join(scope.path, "data"), 1, 5);
  const backup = join(scope.path, "backup.db");
  copyFileSync(directory.databasePath, backup);
  chmodSync(backup, 0o600);
  give(directory.root);
  const commands = new Commands(directory.root, runCli);
  return {
    ...{ path: scope.path, outside, directory, id, backup, commands },
    [Symbol.dispose]: () => scope[Symbol.dispose](),
  };
}

/** Returns all properties of a tree that a command could have changed. */
function stateOf(path: string): unknown[] {
  return ["", ...readdirSync(path, { recursive: true }).map(String)].toSorted().map((name) => {
    const stats = lstatSync(join(path, name));
    const content = stats.isFile() ? readFileSync(join(path, name), "utf8") : "";
    return [
      name,
      stats.uid,
      stats.mode,
      stats.mtimeMs,
      stats.isSymbolicLink() ? readlinkSync(join(path, name)) : content,
    ];
  });
}

/** Returns the owners of the files in a directory, without following links. */
function ownersIn(path: string): Set<number> {
  const owners = readdirSync(path, { withFileTypes: true }).flatMap((entry) => [
    lstatSync(join(path, entry.name)).uid,
    ...(entry.isDirectory() ? ownersIn(join(path, entry.name)) : []),
  ]);
  return new Set(owners);
}

describe.skipIf(!isRoot)("root in a data directory of another user", () => {
  const commands = {
    create: () => ["accounts", "create", "other"],
    backup: () => ["backup"],
    list: () => ["models", "list"],
    pull: () => ["models", "pull", "whisper-tiny"],
    restore: ({ backup }: ReturnType<typeof place>) => ["restore", "--replace", backup],
    cancel: ({ id }: ReturnType<typeof place>) => ["recordings", "cancel", id],
    delete: ({ id }: ReturnType<typeof place>) => ["recordings", "delete", id],
  };
  /** Names that are replaced by links, with the commands that read or write there. */
  const traps = [
    ["transcribe.db", "create backup list restore"],
    ["backups transcribe.db-wal state/server.json state/devices.json", "create backup restore"],
    ["models", "list pull backup"],
    ["models/installed models/downloads", "list pull"],
    ["incoming", "backup restore delete"],
    ["uploads work listening", "backup restore cancel delete"],
    ["state server.lock", "create pull restore cancel"],
  ] as const;
  test.each(traps)(
    "follows no links in the place of %s when it runs %s, and creates files of the owner",
    async (names, run) => {
      using made = place();
      const { root } = made.directory;
      for (const name of names.split(" ")) {
        const path = join(root, name);
        mkdirSync(dirname(path), { recursive: true });
        rmSync(path, { recursive: true, force: true });
        symlinkSync(name.includes(".") ? join(made.outside, "secret") : made.outside, path);
      }
      give(root);
      const before = stateOf(made.outside);
      for (const name of run.split(" ") as (keyof typeof commands)[]) {
        const settings = { TRANSCRIBE_MODELS_MIRROR: "http://127.0.0.1:1" };
        const { stdout, stderr } = await runCli([...commands[name](made), "--data-dir", root], settings);
        expect(stdout + stderr).not.toContain("root's alone");
      }
      expect(stateOf(made.outside)).toEqual(before);
      expect(ownersIn(root)).toEqual(new Set([owner]));
    },
  );

  test("repairs and reports in doctor only files of the owner, and follows no links", async () => {
    using made = place();
    const { root, incoming, state } = made.directory;
    mkdirSync(join(root, "models"));
    for (const [path, to] of [
      [join(root, "models/installed"), made.outside],
      [join(state, "devices.json"), join(made.outside, "secret")],
      [join(state, "server.json"), join(made.outside, "secret")],
      [join(incoming, "link"), join(made.outside, "secret")],
    ] as const) {
      symlinkSync(to, path);
    }
    writeFileSync(join(incoming, "left"), "of an upload");
    give(root);
    chmodSync(root, 0o755);
    writeFileSync(join(root, "roots"), "");
    const before = stateOf(made.outside);
    const { stdout } = await runCli(["doctor", "--fix", "--json", "--data-dir", root]);
    expect(stateOf(made.outside)).toEqual(before);
    const { checks } = JSON.parse(stdout) as { checks: { id: string; status: string; advice: string | null }[] };
    const rights = checks.find(({ id }) => id === "data.rights");
    // A file of root keeps its owner, because another user may have moved it here.
    expect([rights?.status, rights?.advice]).toEqual(["warning", expect.stringContaining(`sudo chown -h ${owner}:`)]);
    expect([statSync(root).mode & 0o777, lstatSync(join(root, "roots")).uid]).toEqual([0o700, 0]);
    expect(readdirSync(incoming)).toEqual(["link"]);
  });

  /** Waits until a reader has opened a pipe. */
  async function reader(pipe: string, isOver: () => boolean): Promise<number> {
    for (;;) {
      try {
        return openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK);
      } catch (error) {
        if (isOver()) throw error;
        await Bun.sleep(5);
      }
    }
  }

  const readModels = ["models list", "models verify mine", "models use mine", "models remove mine", "doctor"];
  const readers: [string, (made: ReturnType<typeof place>) => string][] = [
    ...[...readModels, "bench --seconds 1", "serve --port 0"].map((line): [string, () => string] => [
      line,
      () => "models/installed/mine/model.json",
    ]),
    ["backup", ({ id }) => `uploads/${id}`],
  ];
  test.each(readers)("has only the owner's rights in all threads when %s reads there", async (line, pipeOf) => {
    using made = place();
    const { root, databasePath } = made.directory;
    const database = new Database(databasePath);
    database.run("INSERT INTO chosen_models VALUES ('speech', 'mine', 0)");
    database.close(true);
    const pipe = join(root, pipeOf(made));
    mkdirSync(dirname(pipe), { recursive: true });
    rmSync(pipe, { force: true });
    expect(Bun.spawnSync(["mkfifo", pipe]).exitCode).toBe(0);
    give(root);
    const child = Bun.spawn([...programCommand(...line.split(" ")), "--data-dir", root], {
      env: { PATH: process.env.PATH, TRANSCRIBE_CONFIG: "", ...programSettings },
      ...({ stdin: "ignore", stdout: "ignore", stderr: "ignore" } as const),
    });
    try {
      const writer = await reader(pipe, () => child.exitCode !== null);
      const rights = readdirSync(`/proc/${child.pid}/task`).map((thread) =>
        /^Uid:.*\nGid:.*$|^Groups:.*$|^CapEff:.*$/gm
          [Symbol.match](readFileSync(`/proc/${child.pid}/task/${thread}/status`, "utf8"))
          ?.map((line) => line.trim()),
      );
      closeSync(writer);
      const four = Array.from({ length: 4 }, () => owner).join("\t");
      const expected = [`Uid:\t${four}\nGid:\t${four}`, `Groups:\t${owner}`, "CapEff:\t0000000000000000"];
      expect(rights.length).toBeGreaterThan(1);
      for (const each of rights) expect(each?.toSorted()).toEqual(expected.toSorted());
    } finally {
      child.kill("SIGKILL");
      await child.exited;
    }
  });

  test("writes and reads a backup in a directory that only root may write to", async () => {
    using made = place();
    const target = join(made.outside, "backup.tar");
    const alone = join(made.outside, "copy.db");
    await made.commands.json(anything, "backup", target);
    await made.commands.json(anything, "backup", "--database-only", alone);
    expect([target, alone].map((path) => [statSync(path).uid, statSync(path).mode & 0o777])).toEqual([
      [0, 0o600],
      [0, 0o600],
    ]);
    expect(readdirSync(made.outside).toSorted()).toEqual(["backup.tar", "copy.db", "kept", "secret"]);
    expect(await made.commands.json(anything, "restore", "--replace", target)).toMatchObject({ uploads: 1, open: 1 });
    expect(await made.commands.json(anything, "restore", "--replace", alone)).toMatchObject({ uploads: 0, open: 1 });
    expect(ownersIn(made.directory.root)).toEqual(new Set([owner]));
    expect(readdirSync(join(made.directory.root, "backups")).filter((name) => !name.startsWith("replaced-"))).toEqual(
      [],
    );
    expect(await made.commands.refusal("backup", target)).toContain("exists already");
    expect(await made.commands.refusal("backup", join(made.outside, "none/x"))).toContain("can't write the backup");
  });

  test("leaves nothing of a failed backup in a directory that only root may write to", async () => {
    using made = place();
    writeFileSync(made.directory.databasePath, "no database");
    const before = stateOf(made.outside);
    await made.commands.refusal("backup", join(made.outside, "backup.tar"));
    // The process that keeps root's rights detects the exit of the other one and removes its file.
    while (readdirSync(made.outside).length > 2) await Bun.sleep(5);
    expect(stateOf(made.outside).slice(1)).toEqual(before.slice(1));
  });

  test("opens a file that the owner could have replaced with the owner's rights", async () => {
    using made = place();
    const links = join(made.directory.root, "backups");
    mkdirSync(links);
    symlinkSync(join(made.outside, "backup.db"), join(links, "mine.db"));
    symlinkSync(made.outside, join(links, "elsewhere"));
    copyFileSync(made.backup, join(made.outside, "backup.db"));
    give(links);
    const before = stateOf(made.outside);
    const asked = [
      ["restore", "--replace", join(links, "mine.db")],
      ["models", "import", join(links, "mine.db")],
      ["backup", join(links, "elsewhere/new.tar")],
      ["models", "bundle", "whisper-tiny", "-o", join(links, "elsewhere/new.tar")],
    ];
    for (const command of asked) expect(await made.commands.refusal(...command)).toMatch(/EACCES|there is no file/);
    expect(stateOf(made.outside)).toEqual(before);
  });

  test("refuses a damaged model that only root may read under the name that root used", async () => {
    using made = place();
    const model = join(made.outside, "ggml-damaged.bin");
    writeFileSync(model, smallWhisper().bytes.subarray(0, -1), { mode: 0o600 });
    expect(await made.commands.refusal("models", "import", model)).toContain(
      `${model} is damaged or not a whisper model`,
    );
  });

  test("opens a file that another group of the owner could have replaced with the owner's rights", () => {
    using made = place();
    const further = 54_322;
    const shared = join(made.path, "shared");
    mkdirSync(shared);
    chownSync(shared, 0, further);
    const storage = new URL("../../src/storage/index.ts", import.meta.url).pathname;
    const script = `import { becomeOwnerWith } from ${JSON.stringify(storage)};
      const open = (givesUpRights) => { console.log(givesUpRights, process.geteuid()); return null; };
      becomeOwnerWith(${JSON.stringify(made.directory.root)}, ${JSON.stringify(join(shared, "backup.tar"))}, open, () => [${further}]);
      console.log(process.getegid(), process.getgroups().toSorted().join());`;
    const openedWith = (mode: number) => {
      chmodSync(shared, mode);
      const child = Bun.spawnSync([process.execPath, "--no-env-file", "--eval", script]);
      return child.stdout.toString() + child.stderr.toString();
    };
    const groups = `${owner} ${owner},${further}\n`;
    expect(openedWith(0o770)).toBe(`false ${owner}\n${groups}`);
    expect(openedWith(0o750)).toBe(`true 0\n${groups}`);
  });

  test("follows links to another disk that the owner may use", async () => {
    using made = place();
    const disk = join(made.path, "disk");
    mkdirSync(disk);
    give(disk);
    symlinkSync(disk, join(made.directory.root, "backups"));
    await made.commands.json(anything, "backup");
    expect([readdirSync(disk).length, ownersIn(disk)]).toEqual([1, new Set([owner])]);
  });

  test("creates a data directory in another user's directory as that user", async () => {
    using made = place();
    const home = join(made.path, "home");
    mkdirSync(home);
    give(home);
    await new Commands(join(home, "deep/data"), runCli).json(shapes.account, "accounts", "create", "acme");
    expect(ownersIn(home)).toEqual(new Set([owner]));
  });

  test("refuses a data directory that other users could replace, and names them", async () => {
    using made = place();
    const strangers = join(made.path, "strangers");
    mkdirSync(strangers);
    const open = join(made.path, "open");
    mkdirSync(open);
    chmodSync(open, 0o777);
    for (const [parent, why] of [
      [strangers, "belongs to another user (uid 12345)"],
      [open, "can be written to by every user"],
    ] as const) {
      symlinkSync(made.directory.root, join(parent, "data"));
      if (parent === strangers) for (const path of [parent, join(parent, "data")]) lchownSync(path, 12_345, 12_345);
      const refusal = await new Commands(join(parent, "data"), runCli).refusal("accounts", "create", "other");
      expect(refusal).toContain(`${parent} ${why}`);
    }
  });

  test("does nothing without the right to become the owner, and prints what to do", async () => {
    using made = place();
    const before = stateOf(made.directory.root);
    const command = programCommand("recordings", "list", "--data-dir", made.directory.root);
    const child = Bun.spawnSync(["setpriv", "--bounding-set", "-setuid,-setgid", "--inh-caps", "-all", ...command], {
      env: { PATH: process.env.PATH, TRANSCRIBE_CONFIG: "", ...programSettings },
    });
    expect([child.exitCode, child.stderr.toString()]).toEqual([
      1,
      expect.stringMatching(new RegExp(`no right to become that user .*--user ${owner}:${owner}.*CAP_SETUID`)),
    ]);
    expect(stateOf(made.directory.root)).toEqual(before);
  });
});

const isNativeReady = isFromSource && available("root and models of another user", basePath);
describe.skipIf(!isRoot || !canMount || !isNativeReady)("root with a model of another user", () => {
  /** Runs a command with a copy of the program that the owner can access. */
  function run(made: ReturnType<typeof place>, ...args: string[]) {
    const scratch = join(made.path, `scratch-${Bun.randomUUIDv7()}`);
    mkdirSync(scratch);
    const command = withReachableProgram(programCommand(...args, "--data-dir", made.directory.root), scratch);
    const env = { PATH: process.env.PATH, TRANSCRIBE_CONFIG: "" };
    return resultOf(Bun.spawn(command, { env, stdin: "ignore", stdout: "pipe", stderr: "pipe" }));
  }

  test("imports it from a directory that only root may read, and runs it with the rights of the owner", async () => {
    using made = place();
    const mine = join(made.outside, "ggml-parakeet-tiny.bin");
    writeRandomModel(mine, tinyModel);
    chmodSync(mine, 0o600);
    const imported = await run(made, "models", "import", mine, "--json");
    expect([imported.exitCode, imported.stderr]).toEqual([0, ""]);
    const used = await run(made, "models", "use", "parakeet-tiny", "--json");
    expect([used.exitCode, used.stderr]).toEqual([0, ""]);
    // The self-tests passed, and their verdicts belong to the owner.
    expect(existsSync(made.directory.verdicts)).toBe(true);
    expect(ownersIn(made.directory.root)).toEqual(new Set([owner]));

    // A bundle is written to a directory that only root may write to.
    const bundle = join(made.outside, "models.bundle");
    const bundled = await run(made, "models", "bundle", "parakeet-tiny", "-o", bundle, "--json");
    expect([bundled.exitCode, bundled.stderr]).toEqual([0, ""]);
    expect([statSync(bundle).uid, readdirSync(made.outside).length]).toEqual([0, 4]);

    // The owner replaces the file by a link to another one.
    const model = join(made.directory.root, "models/installed/parakeet-tiny/model.bin");
    rmSync(model);
    symlinkSync(mine, model);
    lchownSync(model, owner, owner);
    expect((await run(made, "models", "use", "parakeet-tiny")).stderr).toContain("there is no model");
    const { stdout } = await run(made, "doctor", "--json");
    expect(stdout).not.toContain(mine);
    expect(await run(made, "models", "list", "--json")).toMatchObject({ stdout: expect.not.stringContaining(mine) });
    expect(ownersIn(made.directory.root)).toEqual(new Set([owner]));
  });

  test("transcribes no recording of root with it", async () => {
    using made = place();
    const folder = join(made.directory.root, "models/installed/mine");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "model.bin"), smallWhisper().bytes);
    const note = { id: "mine", sizeBytes: 1, sha256: "0".repeat(64), sha1: "0".repeat(40), inCatalogue: false };
    writeFileSync(join(folder, "model.json"), JSON.stringify({ ...note, from: "x", installedAt: "x" }));
    give(made.directory.root);
    const recording = join(made.outside, "recording.wav");
    writeFileSync(recording, "");
    const { stderr } = await run(made, "run", "--model", "mine", recording);
    expect(stderr).toContain("so root does not load it");
  });
});
