import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  lchownSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import type { Subprocess } from "bun";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import type { EmbeddedPart } from "../../src/program/contents.ts";
import { innerDirectoryName, innerProgramOf, trailerOf } from "../../src/program/inner-program.ts";
import { findUnpacked, unpackInner, unpackInnerAgain, verifyParts } from "../../src/program/unpack.ts";
import { makeProgram, type TestProgram, withFile } from "./support.ts";

setDefaultTimeout(60_000);

let scope: ReturnType<typeof temporaryDirectory>;
let runtime: string;
let program: TestProgram;
let parts: readonly EmbeddedPart[];
const running: Subprocess[] = [];

beforeEach(async () => {
  scope = temporaryDirectory();
  runtime = join(scope.path, "runtime");
  await useProgram();
});
afterEach(async () => {
  for (const child of running.splice(0)) {
    child.kill("SIGKILL");
    await child.exited;
  }
  scope[Symbol.dispose]();
});

async function useProgram(largeBytes?: number): Promise<void> {
  program = await makeProgram(join(scope.path, "program"), largeBytes);
  parts = program.parts;
}

/** Starts a process that unpacks the parts and stays alive. @param wrapper a command that runs its arguments */
function start(unpacked = program, wrapper: readonly string[] = []) {
  const script = join(import.meta.dir, "unpack-once.ts");
  const child = Bun.spawn([...wrapper, process.execPath, script, runtime, JSON.stringify(unpacked)], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "pipe",
  });
  running.push(child);
  return child;
}

/** Returns the directory that a process reports, while the process stays alive. */
async function directoryOf(child: ReturnType<typeof start>): Promise<string> {
  for await (const piece of child.stdout) return new TextDecoder().decode(piece).trim();
  throw new Error(`it printed nothing; ${await new Response(child.stderr).text()}`);
}

/** Runs a process that unpacks the parts and exits. @returns the directory */
async function unpackOnce(): Promise<string> {
  const child = start();
  const directory = await directoryOf(child);
  child.stdin.end();
  expect(await child.exited).toBe(0);
  return directory;
}

/** Returns the error of a process that could not unpack, which must exit with 1 and print no stack. */
async function refusal(wrapper: readonly string[] = [], unpacked = program): Promise<string> {
  const child = start(unpacked, wrapper);
  const [message, exitCode] = await Promise.all([new Response(child.stderr).text(), child.exited]);
  expect([exitCode, message]).toEqual([1, expect.not.stringContaining("    at ")]);
  return message;
}

/** Returns the entries other than the lock, which has a journal for a moment. */
const entries = () => readdirSync(runtime).filter((name) => !name.startsWith("lock"));
const mode = (path: string) => statSync(path).mode & 0o777;

describe("unpacking", () => {
  test("writes every part with its bytes, readable by its owner only, and only programs are executable", async () => {
    const directory = await unpackOnce();
    expect(await verifyParts(directory, parts)).toEqual([]);
    expect(["", "native", "models"].map((name) => mode(join(directory, name)))).toEqual([0o700, 0o700, 0o700]);
    expect(["native/program", "models/large.bin"].map((name) => mode(join(directory, name)))).toEqual([0o500, 0o400]);
    expect(mode(runtime)).toBe(0o700);
  });

  test("is done once", async () => {
    const large = join(await unpackOnce(), "models/large.bin");
    const before = statSync(large);
    await unpackOnce();
    expect([statSync(large).ino, statSync(large).mtimeMs]).toEqual([before.ino, before.mtimeMs]);
  });

  test("by several processes at once leaves one complete directory and nothing else", async () => {
    const directories = await Promise.all(Array.from({ length: 4 }, () => directoryOf(start())));
    expect(new Set(directories).size).toBe(1);
    expect(await verifyParts(directories[0] ?? "", parts)).toEqual([]);
    expect(entries()).toHaveLength(1);
  });

  test("that was killed is never used, and the next start removes what it left", async () => {
    await useProgram(30_000_000);
    for (;;) {
      const child = start();
      while (!existsSync(runtime) || entries().length === 0) await Bun.sleep(1);
      child.kill("SIGKILL");
      await child.exited;
      // A fast process may have completed before the signal.
      if (entries().some((name) => name.includes("."))) break;
      rmSync(runtime, { recursive: true });
    }
    expect(entries()).toEqual([expect.stringMatching(/^[0-9a-f]{32}\.[0-9a-f-]{36}$/)]);
    expect(await verifyParts(await unpackOnce(), parts)).toEqual([]);
    expect(entries()).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/)]);
  });

  test("removes another version's parts only once nobody uses the directory", async () => {
    const older = start(await makeProgram(join(scope.path, "older"), 1000));
    const olderDirectory = await directoryOf(older);
    await unpackOnce();
    expect(existsSync(olderDirectory)).toBe(true);
    older.stdin.end();
    await older.exited;
    const directory = await unpackOnce();
    expect([existsSync(olderDirectory), existsSync(directory)]).toEqual([false, true]);
  });

  test.each([
    ["a part is missing", (directory: string) => rmSync(join(directory, "models/large.bin"))],
    [
      "a part is cut short",
      (directory: string) => {
        const part = join(directory, "models/large.bin");
        chmodSync(part, 0o600);
        truncateSync(part, 10);
      },
    ],
    ["it was not finished", (directory: string) => rmSync(join(directory, "parts.json"))],
  ])("is repeated when %s", async (_, damage) => {
    const directory = await unpackOnce();
    damage(directory);
    expect(await unpackOnce()).toBe(directory);
    expect(await verifyParts(directory, parts)).toEqual([]);
    expect(entries()).toHaveLength(1);
  });

  test("keeps other files in the directory", async () => {
    mkdirSync(runtime, { mode: 0o700 });
    writeFileSync(join(runtime, "notes.txt"), "mine");
    await unpackOnce();
    expect(entries()).toContain("notes.txt");
  });
});

describe("the inner program", () => {
  test("is found by the trailer of the file, and not in files without one", async () => {
    const other = join(scope.path, "other");
    writeFileSync(other, "a file");
    const found = [program.path, other].map((path) => {
      const file = openSync(path, "r");
      try {
        return innerProgramOf(file);
      } finally {
        closeSync(file);
      }
    });
    expect(found).toEqual([program.inner, null]);
    expect(trailerOf(program.inner)).toHaveLength(72);
  });

  test("is unpacked where the launcher finds it", async () => {
    await withFile(program, (opened) => unpackInner(runtime, opened));
    const path = join(runtime, innerDirectoryName(program.inner), "transcribe");
    expect([readFileSync(path, "utf8"), mode(path)]).toEqual(["#!/bin/sh\nexit 0\n", 0o555]);
  });

  test("of this version stays when the parts are unpacked, and another version's is removed", async () => {
    const own = innerDirectoryName(program.inner);
    for (const name of [own, "0".repeat(32)]) {
      mkdirSync(join(runtime, name), { recursive: true, mode: 0o700 });
      writeFileSync(join(runtime, name, "transcribe"), "");
    }
    const directory = await unpackOnce();
    expect(entries().sort()).toEqual([own, basename(directory)].sort());
  });

  test("is replaced when its bytes changed", async () => {
    const path = join(runtime, innerDirectoryName(program.inner), "transcribe");
    await withFile(program, async (opened) => {
      await unpackInner(runtime, opened);
      chmodSync(path, 0o700);
      writeFileSync(path, "#!/bin/sh\nexit 1\n");
      await unpackInnerAgain(runtime, opened);
    });
    expect(readFileSync(path, "utf8")).toEndWith("exit 0\n");
  });
});

describe("verifying", () => {
  test("finds a changed byte and a missing part", async () => {
    const directory = await unpackOnce();
    chmodSync(join(directory, "native/program"), 0o700);
    writeFileSync(join(directory, "native/program"), "#!/bin/sh\nexit 1\n");
    rmSync(join(directory, "models/large.bin"));
    expect(await verifyParts(directory, parts)).toEqual([
      { path: "native/program", fault: "changed" },
      { path: "models/large.bin", fault: "missing" },
    ]);
  });
});

describe("unpacking is refused with advice and leaves nothing", () => {
  test("when the program's file is damaged", async () => {
    const exchanged = parts.map((part, index) => ({
      ...part,
      ...(index === 0 && { offset: program.inner.offset + 1 }),
    }));
    expect(await refusal([], { ...program, parts: exchanged })).toMatch(/damaged/);
    const other = await makeProgram(join(scope.path, "other"));
    expect(await refusal([], { ...program, path: other.path })).toMatch(/damaged, or was overwritten/);
    truncateSync(program.path, 1000);
    expect(await refusal()).toMatch(/this program's file is damaged.*SHA256SUMS/);
    expect(entries()).toEqual([]);
  });

  test("when others can write to the directory", async () => {
    mkdirSync(runtime);
    chmodSync(runtime, 0o770);
    expect(await refusal()).toMatch(/other users can write to .*storage\.runtime_dir/);
    expect(readdirSync(runtime)).toEqual([]);
  });

  test("when the directory is a file", async () => {
    writeFileSync(runtime, "");
    expect(await refusal()).toMatch(/can't be unpacked into .*storage\.runtime_dir/);
  });
});

describe("in a directory that may be writable to others", () => {
  const cases: [string, number, boolean][] = [
    ["of all users", 0o777, false],
    ["of all users, each of whom can replace only their own files", 0o1777, true],
    ["of its owner only", 0o755, true],
  ];
  test.each(cases)("%s, nothing is unpacked unless others cannot replace the directory", async (_, mode, isPrivate) => {
    const parent = join(scope.path, "parent");
    mkdirSync(join(parent, "deep"), { recursive: true });
    chmodSync(parent, mode);
    runtime = join(parent, "deep/runtime");
    if (isPrivate) {
      const directory = await unpackOnce();
      expect(findUnpacked(runtime, parts)).toBe(directory);
      chmodSync(parent, 0o777);
    } else expect(await refusal()).toContain(`${parent}, on the way to ${runtime}, can be written to by every user`);
    expect(findUnpacked(runtime, parts)).toBeNull();
  });
});

const isRoot = process.geteuid?.() === 0;
if (!isRoot) console.warn("SKIPPED: unpacking in directories of other users; making those takes root");

describe.skipIf(!isRoot)("in a directory of another user", () => {
  let foreign: string;
  beforeEach(() => {
    foreign = join(scope.path, "foreign");
    mkdirSync(foreign);
  });

  test("nothing is unpacked at any depth, nor through a link of that user", async () => {
    chownSync(foreign, 54_321, 54_321);
    const link = join(scope.path, "link");
    symlinkSync(scope.path, link);
    lchownSync(link, 54_321, 54_321);
    for (const place of [foreign, link]) {
      runtime = join(place, "deep/runtime");
      expect(await refusal()).toMatch(`${place}, on the way to ${runtime}, belongs to another user (uid 54321)`);
      expect(existsSync(join(place, "deep"))).toBe(false);
    }
  });

  test("the parts are unpacked for a user who became root by sudo and owns it", async () => {
    chownSync(foreign, 54_321, 54_321);
    runtime = join(foreign, "runtime");
    expect(await directoryOf(start(program, ["env", "SUDO_UID=54321"]))).toStartWith(runtime);
    expect(await refusal(["env", "SUDO_UID=12345"])).toMatch(/belongs to another user/);
  });

  test("complete parts are not used when any directory of the path belongs to that user", async () => {
    runtime = join(foreign, "runtime");
    const directory = await unpackOnce();
    expect(findUnpacked(runtime, parts)).toBe(directory);
    for (const theirs of [directory, runtime, foreign]) {
      chownSync(theirs, 54_321, 54_321);
      expect(findUnpacked(runtime, parts)).toBeNull();
      chownSync(theirs, 0, 0);
    }
    expect(findUnpacked(runtime, parts)).toBe(directory);
  });
});

const canMount = Bun.spawnSync(["unshare", "--mount", "true"]).exitCode === 0;
if (!canMount) console.warn("SKIPPED: unpacking onto other file systems; mounting needs privileges");

describe.skipIf(!canMount)("on another file system", () => {
  /** Returns a command that runs these commands first, in its own mount namespace. */
  const after = (commands: string) => ["unshare", "--mount", "sh", "-ec", `${commands}\nexec "$@"`, "sh"];
  const mounted = (options: string) => after(`mkdir -p '${runtime}'; mount -t tmpfs -o ${options} none '${runtime}'`);

  test("that is full, unpacking is refused with the disk space that it needs", async () => {
    expect(await refusal(mounted("size=1m,mode=700"))).toMatch(
      /has not enough disk space .* 4 MB; .*storage\.runtime_dir/,
    );
  });

  test("that is mounted noexec, unpacking is refused", async () => {
    expect(await refusal(mounted("size=9m,mode=700,noexec"))).toMatch(/noexec.*storage\.runtime_dir/);
  });

  test("that is read-only, unpacking is refused unless the parts are complete already", async () => {
    mkdirSync(runtime, { mode: 0o700 });
    const readOnly = after(`mount --bind '${runtime}' '${runtime}'; mount -o remount,ro,bind '${runtime}'`);
    expect(await refusal(readOnly)).toMatch(/can't be unpacked into .*storage\.runtime_dir/);
    const directory = await unpackOnce();
    expect(await directoryOf(start(program, readOnly))).toBe(directory);
  });

  test("that belongs to another user, unpacking is refused", async () => {
    expect(await refusal(mounted("size=9m,mode=755,uid=65534"))).toMatch(/belongs to another user/);
  });
});
