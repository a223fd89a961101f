import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import {
  appendFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { loadSettings } from "../../src/config/index.ts";
import { FleetDirectory } from "../../src/fleet/index.ts";
import { installSteps } from "../../src/install/install.ts";
import {
  checkPath,
  defaultConfigFile,
  installedRole,
  machineFiles,
  ServiceError,
  servicePaths,
  unitPlaces,
} from "../../src/install/layout.ts";
import type { Machine } from "../../src/install/machine.ts";
import { unitState } from "../../src/install/manager.ts";
import { readStatus } from "../../src/install/status.ts";
import { runSteps, type StepReport } from "../../src/install/steps.ts";
import { uninstallSteps } from "../../src/install/uninstall.ts";
import { writeCertificateFolders, writeStatus } from "../../src/replication/index.ts";
import { DataPaths, writeStandbyMarker } from "../../src/storage/index.ts";

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
  const steps = installSteps({
    ...{ layout, machine, user, dataDirectory, role: "server", folder: null },
    program: { path: program, unpack },
  });
  return runSteps(steps, dryRun, () => {});
}

/** Writes the settings file of the tree. */
function writeSettings(text: string): void {
  mkdirSync(dirname(at(defaultConfigFile)), { recursive: true });
  writeFileSync(at(defaultConfigFile), text);
}

function uninstall(purged: { user: string; dataDirectory: string } | null): Promise<StepReport[]> {
  return runSteps(uninstallSteps({ layout, machine, role: "server", purged }), false, () => {});
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
    expect(readlinkSync(at(unitPlaces("server").enabled))).toBe(unitPlaces("server").unit);
    const written = loadSettings({ file: at(defaultConfigFile), environment: {}, flags: {} });
    const usual = loadSettings({ file: undefined, environment: {}, flags: {} });
    const storage = { ...usual.storage, data_dir: usualData, runtime_dir: servicePaths.runtimeDirectory };
    expect(written).toEqual({ ...usual, storage });
    expect(readFileSync(at(unitPlaces("server").unit), "utf8")).toContain("SupplementaryGroups=video\nStateDirectory");
    const rights: [string, string, number, number][] = [
      [servicePaths.program, "755", 0, 0],
      [unitPlaces("server").unit, "644", 0, 0],
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
      `${servicePaths.runtimeDirectory}, the unpacked program, its native parts and models`,
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
      role: "server",
      folder: null,
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
    const mine = '[server]\nport = 443\n[storage]\ndata_dir = "/srv/recordings"\n';
    writeSettings(mine);
    await install();
    expect(readFileSync(at(defaultConfigFile), "utf8")).toBe(mine);
    expect(readFileSync(at(unitPlaces("server").unit), "utf8")).toMatch(
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
      () => writeSettings(`[storage]\ndata_dir = "${usualData}"\n`),
      { dataDirectory: "/srv/other" },
      "change storage.data_dir there",
    ],
    [
      "settings whose data directory depends on where the server starts",
      () => writeSettings(""),
      {},
      "storage.data_dir in /etc/transcribe/transcribe.toml",
    ],
    ["root as its user", () => {}, { user: "root" }, "does not run as root"],
    ["a user that can't be made", () => {}, { user: "nobodys" }, "no such name allowed"],
  ];
  test.each(refused)("refuses %s", async (_, prepare, options, why) => {
    prepare();
    const refusal = await install(options).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(ServiceError);
    expect(String(refusal)).toContain(why);
    expect(existsSync(at(unitPlaces("server").unit))).toBe(false);
  });

  const links: [string, string, string][] = [
    ["the units", "/etc/systemd", "outside"],
    ["the program", "/usr/local/bin", "outside"],
    ["the data", usualData, "outside"],
    ["a directory that isn't there yet", "/usr/local", "outside/usr"],
  ];
  test.each(links)(
    "into another machine's tree refuses a link of %s that leads into this machine",
    async (_, path, target) => {
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
    },
  );

  test("reports a file system error in one line, and leaves no partial files", async () => {
    mkdirSync(at("/usr/local"), { recursive: true });
    writeFileSync(at("/usr/local/bin"), "a file where a directory belongs");
    const refusal = await install().catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(ServiceError);
    expect(String(refusal)).toContain(`${servicePaths.program}, this program: `);
  });
});

describe.skipIf(!isRoot)("a worker of a fleet", () => {
  const folder = join(directory.path, "w1");
  const [ca, certificate, key] = machineFiles(layout, "fleet");
  const workerSteps = (fleetFolder: string | null) =>
    installSteps({
      ...{ layout, machine, user: "transcribe", dataDirectory: null, role: "worker" },
      folder: { kind: "fleet", path: fleetFolder },
      program: { path: program, unpack },
    });
  const installWorker = (fleetFolder: string | null) => runSteps(workerSteps(fleetFolder), false, () => {});
  const uninstallWorker = (purged: { user: string; dataDirectory: string } | null) =>
    runSteps(uninstallSteps({ layout, machine, role: "worker", purged }), false, () => {});
  beforeAll(async () => {
    const fleet = join(directory.path, "fleet");
    const created = { broker: ["10.0.0.5"], port: 4222, workers: ["w1"], pools: ["gpu"] };
    await FleetDirectory.create(fleet, created, Date.now());
    renameSync(join(fleet, "w1"), folder);
  });

  test("of a pool gets the pool's settings, and keeps the name that its operator gave it", async () => {
    const pool = join(directory.path, "fleet", "gpu");
    await installWorker(pool);
    const settings = () => loadSettings({ file: at(defaultConfigFile), environment: {}, flags: {} }).fleet;
    expect(settings()).toMatchObject({ broker: "tls://10.0.0.5:4222", pool: "gpu", machine: "", ca, certificate, key });
    const text = readFileSync(at(defaultConfigFile), "utf8");
    writeSettings(text.replace(/^pool = /m, 'machine = "rack7"\npool = '));
    await installWorker(pool);
    expect(settings()).toMatchObject({ pool: "gpu", machine: "rack7" });
    expect(() => workerSteps(folder)).toThrow("names the pool gpu and the broker tls://10.0.0.5:4222");
  });

  test("gets a unit, its certificates, and settings that name them", async () => {
    expect(new Set(outcomes(await installWorker(folder)))).toEqual(new Set(["done"]));
    expect(installedRole(layout)).toBe("worker");
    const { unit, enabled } = unitPlaces("worker");
    expect(readlinkSync(at(enabled))).toBe(unit);
    expect(readFileSync(at(unit), "utf8")).toContain(
      `ExecStart=${servicePaths.program} worker --config ${defaultConfigFile}`,
    );
    expect(loadSettings({ file: at(defaultConfigFile), environment: {}, flags: {} }).fleet).toMatchObject({
      ...{ broker: "tls://10.0.0.5:4222", machine: "w1", ca, certificate, key },
    });
    expect(
      [ca, certificate, key].map((path) => [modeOf(path), lstatSync(at(path)).uid, lstatSync(at(path)).gid]),
    ).toEqual([
      ["644", 0, 1235],
      ["644", 0, 1235],
      ["640", 0, 1235],
    ]);
    const again = await installWorker(null);
    expect(again.some(({ restarts }) => restarts)).toBe(false);
  });

  test("restarts with a renewed certificate", async () => {
    await installWorker(folder);
    appendFileSync(join(folder, "certificate.pem"), "\n");
    const restarting = (await installWorker(folder)).filter(({ restarts }) => restarts);
    expect(restarting.map(({ what }) => what)).toEqual([`${certificate}, for the fleet`]);
  });

  test("is not installed without a fleet, or next to a server", async () => {
    expect(() => workerSteps(null)).toThrow("--worker FOLDER");
    expect(() => workerSteps(join(directory.path, "nowhere"))).toThrow("does not exist");
    const storage = `[storage]\ndata_dir = "${usualData}"\n`;
    writeSettings(`${storage}[fleet]\nbroker = "tls://10.0.0.6:4222"\nmachine = "w1"\n`);
    expect(() => workerSteps(folder)).toThrow("names the machine w1 and the broker tls://10.0.0.6:4222");
    writeSettings(storage);
    expect(() => workerSteps(null)).toThrow("names no fleet");
    rmSync(at(defaultConfigFile));
    await install();
    expect(() => workerSteps(folder)).toThrow("has the service transcribe already");
  });

  test("keeps a server from being installed next to it", async () => {
    await installWorker(folder);
    await expect(Promise.resolve().then(() => install())).rejects.toThrow("has the service transcribe-worker already");
  });

  test("is removed with its key by --purge, and without it keeps both", async () => {
    await installWorker(folder);
    mkdirSync(at(`${usualData}/work`));
    await uninstallWorker(null);
    expect([existsSync(at(unitPlaces("worker").unit)), existsSync(at(key))]).toEqual([false, true]);
    await uninstallWorker({ user: "transcribe", dataDirectory: usualData });
    expect([existsSync(at("/etc/transcribe")), existsSync(at(usualData))]).toEqual([false, false]);
  });
});

describe.skipIf(!isRoot)("a server that follows another one", () => {
  const folder = join(directory.path, "standby", "b.example.org");
  const from = "tls://a.example.org:8788";
  const [ca, certificate, key] = machineFiles(layout, "standby");
  const standbySteps = (path: string | null) =>
    installSteps({
      ...{ layout, machine, user: "transcribe", dataDirectory: null, role: "server" },
      folder: { kind: "standby", path },
      program: { path: program, unpack },
    });
  const installStandby = (path: string | null) => runSteps(standbySteps(path), false, () => {});
  const settings = () => loadSettings({ file: at(defaultConfigFile), environment: {}, flags: {} }).standby;
  beforeAll(async () => {
    const machines = ["a.example.org", "b.example.org"];
    await writeCertificateFolders(join(directory.path, "standby"), { machines, renew: [] }, Date.now());
  });

  test("gets the unit of a server, its certificates, and settings by which it follows", async () => {
    expect(new Set(outcomes(await installStandby(folder)))).toEqual(new Set(["done"]));
    expect(installedRole(layout)).toBe("server");
    expect(settings()).toMatchObject({ ...{ listen: "0.0.0.0:8788", from, follow: true }, ca, certificate, key });
    expect([ca, certificate, key].map((path) => [modeOf(path), lstatSync(at(path)).gid])).toEqual([
      ["644", 1235],
      ["644", 1235],
      ["640", 1235],
    ]);
    const unit = readFileSync(at(unitPlaces("server").unit), "utf8");
    expect(unit).toContain(`serve --config ${defaultConfigFile}`);
    // After a takeover and for an upgrade, the same commands apply as for any server.
    for (const again of [await installStandby(null), await install()]) {
      expect(again.some(({ restarts }) => restarts)).toBe(false);
    }
    expect(readFileSync(at(unitPlaces("server").unit), "utf8")).toBe(unit);
  });

  test("restarts with a renewed certificate, and keeps the settings of its operator", async () => {
    await installStandby(folder);
    const mine = readFileSync(at(defaultConfigFile), "utf8").replace("#fence = ", 'fence = "/mnt/fence" #');
    writeSettings(mine);
    appendFileSync(join(folder, "certificate.pem"), "\n");
    const restarting = (await installStandby(folder)).filter(({ restarts }) => restarts);
    expect(restarting.map(({ what }) => what)).toEqual([
      `${certificate}, for the standby`,
      `${unitPlaces("server").unit}, the unit`,
    ]);
    expect(readFileSync(at(defaultConfigFile), "utf8")).toBe(mine);
    expect(readFileSync(at(unitPlaces("server").unit), "utf8")).toContain("ReadWritePaths=-/mnt/fence\n");
  });

  test("is not installed without a server to follow", async () => {
    expect(() => standbySteps(null)).toThrow("--standby FOLDER");
    expect(() => standbySteps(join(directory.path, "nowhere"))).toThrow("does not exist");
    const storage = `[storage]\ndata_dir = "${usualData}"\n`;
    for (const other of ["", 'from = "/srv/data"\nfollow = true', `from = "${from}"`]) {
      writeSettings(`${storage}[standby]\n${other}\n`);
      expect(() => standbySteps(folder)).toThrow("complete its section [standby]");
    }
    writeSettings(`${storage}[standby]\nfrom = "tls://c.example.org:8788"\nfollow = true\n`);
    expect(() => standbySteps(folder)).toThrow(`names the server ${from}`);
    const alone = join(directory.path, "alone", "b.example.org");
    const machines = ["b.example.org"];
    await writeCertificateFolders(join(directory.path, "alone"), { machines, renew: [] }, Date.now());
    rmSync(at(defaultConfigFile));
    expect(() => standbySteps(alone)).toThrow("names no other machine");
  });

  test("is removed with its key by --purge", async () => {
    await installStandby(folder);
    writeFileSync(at(`${usualData}/standby.json`), "");
    writeFileSync(at(`${usualData}/transcribe.db`), "");
    await uninstall({ user: "transcribe", dataDirectory: usualData });
    expect([existsSync(at("/etc/transcribe")), existsSync(at(usualData))]).toEqual([false, false]);
  });
});

const standbyStatuses = [
  ["following", 0, true, null],
  ["connecting", 0, false, "tls://a.example.org:8788 cannot be reached"],
  ["snapshot", 0, false, "the first copy of tls://a.example.org:8788 is not complete"],
  ["following", 60_000, false, "the standby does not run"],
] as const;
test.each(standbyStatuses)("the status of a standby that wrote %p %d ms ago", async (phase, age, ready, trouble) => {
  const from = "tls://a.example.org:8788";
  using data = temporaryDirectory();
  const paths = new DataPaths(data.path);
  mkdirSync(paths.state);
  writeStandbyMarker(paths, { from, since: 0, appliedAt: null, complete: true });
  const written = { role: "standby", pid: 7, version: "1.0.0", from, phase, isComplete: true } as const;
  writeStatus(paths, { ...written, lastContactAt: null, behindBytes: 0, delaySeconds: 0 }, Date.now() - age);
  const settings = loadSettings({ file: undefined, environment: { TRANSCRIBE_DATA_DIR: data.path }, flags: {} });
  expect(await readStatus(settings, null, "server")).toMatchObject({ ready, trouble, origin: null, follows: from });
});

test.each([
  ["Ready; 1 processing, 0 queued.", "active", true, null],
  ["Not ready: the broker is away; see; 0 processing, 0 queued.", "active", false, "the broker is away; see"],
  ["", "failed", false, "the unit is failed (dead)"],
])("the status of a worker whose unit reports %p and is %s", async (says, active, ready, trouble) => {
  const lines = ["LoadState=loaded", `ActiveState=${active}`, "SubState=dead", `StatusText=${says}`, "MainPID=7"];
  const run: Machine["run"] = () => ({ exitCode: 0, stdout: lines.join("\n"), stderr: "" });
  const settings = loadSettings({ file: undefined, environment: {}, flags: {} });
  const status = await readStatus(settings, unitState({ hasSystemd: true, run }, "worker"), "worker");
  expect(status).toMatchObject({ ready, trouble, origin: null, pid: 7 });
});

describe.skipIf(!isRoot)("a removal", () => {
  const purged = { user: "transcribe", dataDirectory: usualData };

  test("keeps settings, data and user", async () => {
    await install();
    writeFileSync(at(`${usualData}/transcribe.db`), "");
    await uninstall(null);
    for (const path of [
      servicePaths.program,
      unitPlaces("server").unit,
      unitPlaces("server").enabled,
      servicePaths.runtimeDirectory,
    ]) {
      expect(lstatSync(at(path), { throwIfNoEntry: false })).toBeUndefined();
    }
    expect(existsSync(at(defaultConfigFile))).toBe(true);
    expect(existsSync(at(`${usualData}/transcribe.db`))).toBe(true);
    expect(readFileSync(at("/etc/passwd"), "utf8")).toContain("transcribe:");
  });

  test("with --purge removes them, too, and keeps files of others", async () => {
    await install();
    for (const name of ["transcribe.db", "transcribe.db-wal", "standby.json", "replaced.json", "mine.txt"])
      writeFileSync(at(`${usualData}/${name}`), "");
    const { incoming, uploads, work, playback, live, models, state } = new DataPaths(at(usualData));
    for (const folder of [incoming, uploads, work, playback, live, models, state]) mkdirSync(folder);
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
    await runSteps(uninstallSteps({ layout, machine: booted, role: "server", purged: null }), false, () => {});
    expect(commands).toEqual([]);
    expect(existsSync(at(unitPlaces("server").unit))).toBe(false);
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
  test.each(bad)("can't be %j", (path) => {
    expect(() => checkPath(path, "--data-dir")).toThrow(ServiceError);
  });
  test.each(["/srv/transcribe", "/mnt/disk-1/t_0.x", "/homes/t"])("can be %s", (path) => {
    expect(() => checkPath(path, "--data-dir")).not.toThrow();
  });
});
