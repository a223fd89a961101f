import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import {
  appendFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { loadSettings } from "../../src/config/index.ts";
import { installSteps } from "../../src/install/install.ts";
import { checkPath, defaultConfigFile, ServiceError, servicePaths } from "../../src/install/layout.ts";
import type { Machine } from "../../src/install/machine.ts";
import { runSteps, type StepReport } from "../../src/install/steps.ts";
import { uninstallSteps } from "../../src/install/uninstall.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const isRoot = process.geteuid?.() === 0;
if (!isRoot) console.warn("SKIPPED: installing the service, because only root can change the owner of files");

const directory = temporaryDirectory();
afterAll(() => directory[Symbol.dispose]());
const root = join(directory.path, "root");
const program = join(directory.path, "program");
const layout = { root, configFile: defaultConfigFile };
const at = (path: string) => join(root, path);
const usualData = "/var/lib/transcribe";
const names = ["transcribe", "other"];

/** A machine with users in its passwd file and without systemd. */
const machine: Machine = {
  hasSystemd: false,
  run: ([name, ...args]) => {
    const user = args.at(-1) ?? "";
    if (name === "useradd" && !names.includes(user)) return { exitCode: 9, stdout: "", stderr: "no such name allowed" };
    if (name === "useradd") appendFileSync(at("/etc/passwd"), `${user}:x:1234:1235::${usualData}:/usr/sbin/nologin\n`);
    if (name === "userdel") writeFileSync(at("/etc/passwd"), "root:x:0:0::/root:/bin/sh\n");
    return { exitCode: 0, stdout: "", stderr: "" };
  },
};

function unpack(into: string): Promise<void> {
  mkdirSync(join(into, "parts/native"), { recursive: true, mode: 0o700 });
  writeFileSync(join(into, "parts/native/whisper.node"), "native", { mode: 0o400 });
  writeFileSync(join(into, "parts/ffmpeg"), "ffmpeg", { mode: 0o500 });
  return Promise.resolve();
}

async function install(
  options: { user?: string; dataDirectory?: string; dryRun?: boolean } = {},
): Promise<StepReport[]> {
  const { user = "transcribe", dataDirectory = null, dryRun = false } = options;
  const steps = installSteps({ layout, machine, user, dataDirectory, program: { path: program, unpack } });
  return runSteps(steps, dryRun, () => {});
}

function uninstall(purged: { user: string; dataDirectory: string } | null): Promise<StepReport[]> {
  return runSteps(uninstallSteps({ layout, machine, purged }), false, () => {});
}

const outcomes = (reports: readonly StepReport[]) => reports.map(({ outcome }) => outcome);
const modeOf = (path: string) => (lstatSync(at(path)).mode & 0o7777).toString(8);
const everything = () => readdirSync(root, { recursive: true }).map(String).sort();

beforeEach(() => {
  rmSync(root, { recursive: true, force: true });
  mkdirSync(at("/etc"), { recursive: true });
  writeFileSync(at("/etc/passwd"), "root:x:0:0::/root:/bin/sh\n");
  writeFileSync(at("/etc/group"), "video:x:44:\n");
  writeFileSync(program, "the first program", { mode: 0o700 });
});

describe.skipIf(!isRoot)("an installation", () => {
  test("creates all files with the least permissions", async () => {
    expect(new Set(outcomes(await install()))).toEqual(new Set(["done"]));
    expect(readFileSync(at(servicePaths.program), "utf8")).toBe("the first program");
    expect(readlinkSync(at(servicePaths.enabled))).toBe(servicePaths.unit);
    const written = loadSettings({ file: at(defaultConfigFile), environment: {}, flags: {} });
    const usual = loadSettings({ file: undefined, environment: {}, flags: {} });
    const storage = { ...usual.storage, data_dir: usualData, runtime_dir: servicePaths.runtimeDirectory };
    expect(written).toEqual({ ...usual, storage });
    expect(readFileSync(at(servicePaths.unit), "utf8")).toContain("SupplementaryGroups=video\nStateDirectory");
    const rights: [string, string, number, number][] = [
      [servicePaths.program, "755", 0, 0],
      [servicePaths.unit, "644", 0, 0],
      [defaultConfigFile, "640", 0, 1235],
      [usualData, "700", 1234, 1235],
      [servicePaths.runtimeDirectory, "755", 0, 0],
      [`${servicePaths.runtimeDirectory}/parts/native`, "755", 0, 0],
      [`${servicePaths.runtimeDirectory}/parts/native/whisper.node`, "644", 0, 0],
      [`${servicePaths.runtimeDirectory}/parts/ffmpeg`, "755", 0, 0],
    ];
    expect(rights.map(([path]) => [path, modeOf(path), lstatSync(at(path)).uid, lstatSync(at(path)).gid])).toEqual(
      rights,
    );
  });

  test("that is repeated changes nothing that needs a restart of the service", async () => {
    await install();
    const before = everything();
    const reports = await install();
    expect(reports.filter(({ outcome }) => outcome === "done").map(({ what }) => what)).toEqual([
      `${servicePaths.runtimeDirectory}, its native parts and models`,
    ]);
    expect(reports.some(({ restarts }) => restarts)).toBe(false);
    expect(everything()).toEqual(before);
  });

  test("keeps a data directory that is a link to another disk", async () => {
    mkdirSync(at("/disk"));
    mkdirSync(at("/var/lib"), { recursive: true });
    symlinkSync(at("/disk"), at(usualData));
    await install();
    expect(lstatSync(at("/disk")).uid).toBe(1234);
    writeFileSync(at("/disk/transcribe.db"), "");
    const reports = await install();
    expect(reports.find(({ what }) => what.startsWith(`${usualData},`))?.outcome).toBe("unchanged");
  });

  test("of a newer program keeps the previous one, which can be installed again", async () => {
    await install();
    writeFileSync(program, "the second program");
    expect((await install()).filter(({ restarts }) => restarts)).toHaveLength(1);
    expect(readFileSync(at(servicePaths.previousProgram), "utf8")).toBe("the first program");
    const steps = installSteps({
      ...{ layout, machine, user: "transcribe", dataDirectory: null },
      program: { path: at(servicePaths.previousProgram), unpack },
    });
    await runSteps(steps, false, () => {});
    expect(readFileSync(at(servicePaths.program), "utf8")).toBe("the first program");
    expect(readFileSync(at(servicePaths.previousProgram), "utf8")).toBe("the second program");
    expect(readdirSync(at("/usr/local/bin")).sort()).toEqual(["transcribe", "transcribe.previous"]);
  });

  test("with --dry-run reports its steps and changes nothing", async () => {
    const before = everything();
    expect(new Set(outcomes(await install({ dryRun: true })))).toEqual(new Set(["would do"]));
    expect(everything()).toEqual(before);
  });

  test("keeps an existing settings file, and uses its port and data directory", async () => {
    mkdirSync(at("/etc/transcribe"), { recursive: true });
    const mine = '[server]\nport = 443\n[storage]\ndata_dir = "/srv/recordings"\n';
    writeFileSync(at(defaultConfigFile), mine);
    await install();
    expect(readFileSync(at(defaultConfigFile), "utf8")).toBe(mine);
    expect(readFileSync(at(servicePaths.unit), "utf8")).toMatch(
      /CAP_NET_BIND_SERVICE.*NoExecPaths=\/srv\/recordings /s,
    );
    expect(existsSync(at(usualData))).toBe(false);
  });

  const refused: [string, () => void, Parameters<typeof install>[0], string][] = [
    [
      "data of another user",
      () => {
        mkdirSync(at(usualData), { recursive: true });
        writeFileSync(at(`${usualData}/transcribe.db`), "");
      },
      {},
      `chown -R transcribe: ${at(usualData)}`,
    ],
    [
      "settings that name another data directory than the command line",
      () => {
        mkdirSync(at("/etc/transcribe"), { recursive: true });
        writeFileSync(at(defaultConfigFile), `[storage]\ndata_dir = "${usualData}"\n`);
      },
      { dataDirectory: "/srv/other" },
      "change storage.data_dir there",
    ],
    [
      "settings whose data directory depends on where the server starts",
      () => {
        mkdirSync(at("/etc/transcribe"), { recursive: true });
        writeFileSync(at(defaultConfigFile), "");
      },
      {},
      "storage.data_dir in /etc/transcribe/transcribe.toml",
    ],
    ["root as its user", () => {}, { user: "root" }, "does not run as root"],
    ["a user that can't be made", () => {}, { user: "nobodys" }, "no such name allowed"],
  ];
  for (const [what, prepare, options, why] of refused) {
    test(`refuses ${what}`, async () => {
      prepare();
      const refusal = await install(options).catch((error: unknown) => error);
      expect(refusal).toBeInstanceOf(ServiceError);
      expect(String(refusal)).toContain(why);
      expect(existsSync(at(servicePaths.unit))).toBe(false);
    });
  }

  const links: [string, string, string][] = [
    ["the units", "/etc/systemd", "outside"],
    ["the program", "/usr/local/bin", "outside"],
    ["the data", usualData, "outside"],
    ["a directory that isn't there yet", "/usr/local", "outside/usr"],
  ];
  for (const [what, path, target] of links) {
    test(`into another machine's tree refuses a link of ${what} that leads into this machine`, async () => {
      const outside = join(directory.path, "outside");
      rmSync(outside, { recursive: true, force: true });
      mkdirSync(outside);
      mkdirSync(dirname(at(path)), { recursive: true });
      symlinkSync(join(directory.path, target), at(path));
      const before = everything();
      await expect(Promise.resolve().then(() => install())).rejects.toThrow(`${at(path)} leads out of ${root}`);
      const purge = () => uninstall({ user: "transcribe", dataDirectory: usualData });
      await expect(Promise.resolve().then(purge)).rejects.toThrow(ServiceError);
      expect([everything(), readdirSync(outside)]).toEqual([before, []]);
    });
  }

  test("reports a file system error in one line, and leaves no partial files", async () => {
    mkdirSync(at("/usr/local"), { recursive: true });
    writeFileSync(at("/usr/local/bin"), "a file where a directory belongs");
    const refusal = await install().catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(ServiceError);
    expect(String(refusal)).toContain(`${servicePaths.program}, this program: `);
  });
});

describe.skipIf(!isRoot)("a removal", () => {
  const purged = { user: "transcribe", dataDirectory: usualData };

  test("keeps settings, data and user", async () => {
    await install();
    writeFileSync(at(`${usualData}/transcribe.db`), "");
    await uninstall(null);
    for (const path of [servicePaths.program, servicePaths.unit, servicePaths.enabled, servicePaths.runtimeDirectory]) {
      expect(lstatSync(at(path), { throwIfNoEntry: false })).toBeUndefined();
    }
    expect(existsSync(at(defaultConfigFile))).toBe(true);
    expect(existsSync(at(`${usualData}/transcribe.db`))).toBe(true);
    expect(readFileSync(at("/etc/passwd"), "utf8")).toContain("transcribe:");
  });

  test("with --purge removes them, too, and keeps files of others", async () => {
    await install();
    for (const name of ["transcribe.db", "transcribe.db-wal", "mine.txt"])
      writeFileSync(at(`${usualData}/${name}`), "");
    mkdirSync(at(`${usualData}/uploads`));
    await uninstall(purged);
    expect(readdirSync(at(usualData))).toEqual(["mine.txt"]);
    expect(existsSync(at("/etc/transcribe"))).toBe(false);
    expect(readFileSync(at("/etc/passwd"), "utf8")).not.toContain("transcribe:");
  });

  test("does not change a directory without a database of the service", async () => {
    await install();
    mkdirSync(at("/srv/uploads"), { recursive: true });
    await uninstall({ user: "transcribe", dataDirectory: "/srv" });
    expect(existsSync(at("/srv/uploads"))).toBe(true);
  });

  test("from another machine's tree does not change the service of this machine", async () => {
    await install();
    const commands: string[] = [];
    const run: Machine["run"] = ([name]) => {
      commands.push(name);
      return { exitCode: 0, stdout: "LoadState=loaded\nActiveState=active\n", stderr: "" };
    };
    const booted: Machine = { ...machine, hasSystemd: true, run };
    await runSteps(uninstallSteps({ layout, machine: booted, purged: null }), false, () => {});
    expect(commands).toEqual([]);
    expect(existsSync(at(servicePaths.unit))).toBe(false);
  });

  test("of missing parts is no error", async () => {
    expect(new Set(outcomes(await uninstall(purged)))).toEqual(new Set(["unchanged"]));
  });
});

describe("a path in the unit", () => {
  const bad = [
    "",
    "data",
    "/",
    "//",
    "/a b",
    "/a%n",
    "/a/../b",
    "/a/./b",
    "/a\nUser=root",
    "/a/",
    "/home/me",
    "/tmp/t",
  ];
  for (const path of bad) {
    test(`can't be ${JSON.stringify(path)}`, () => expect(() => checkPath(path, "--data-dir")).toThrow(ServiceError));
  }
  for (const path of ["/srv/transcribe", "/mnt/disk-1/t_0.x", "/homes/t"]) {
    test(`can be ${path}`, () => expect(() => checkPath(path, "--data-dir")).not.toThrow());
  }
});
