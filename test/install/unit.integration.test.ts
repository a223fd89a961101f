import { describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { packagePaths, servicePaths, unitPlaces } from "../../src/install/layout.ts";
import { runTool } from "../../src/install/machine.ts";
import { installedService, packageUnit, readUnit, serviceGroups, unitFile } from "../../src/install/unit.ts";

const usual = {
  role: "server" as "server" | "worker",
  user: "transcribe",
  configFile: "/etc/transcribe/transcribe.toml",
  dataDirectory: "/var/lib/transcribe",
  port: 8787,
  fence: null as string | null,
  paths: { ...servicePaths, unit: unitPlaces("server").unit },
  deviceGroups: ["video", "render"],
};

const cases: [string, Partial<typeof usual>, readonly string[], readonly string[]][] = [
  [
    "the usual one",
    {},
    [
      "User=transcribe",
      "SupplementaryGroups=render",
      "StateDirectory=transcribe",
      "CapabilityBoundingSet=",
      "PrivateUsers=yes",
      "RestrictNamespaces=user net",
      "SystemCallFilter=capset landlock_create_ruleset landlock_add_rule landlock_restrict_self",
      "TasksMax=4096",
      // A standby that takes over ends in order; a server that was replaced must not start again.
      "Restart=always",
      "RestartPreventExitStatus=2 6",
      "NoExecPaths=/var/lib/transcribe /tmp /var/tmp /dev/shm",
    ],
    ["ReadWritePaths", "CAP_"],
  ],
  ["a low port", { port: 443 }, ["AmbientCapabilities=CAP_NET_BIND_SERVICE", "PrivateUsers=no"], ["PrivateUsers=yes"]],
  ["any free port", { port: 0 }, ["AmbientCapabilities="], ["CAP_"]],
  [
    "a fence on shared storage",
    { fence: "/mnt/fence" },
    ["ReadWritePaths=-/mnt/fence", "After=network-online.target nvidia-persistenced.service remote-fs.target"],
    [],
  ],
  ["data elsewhere", { dataDirectory: "/srv/t" }, ["ReadWritePaths=/srv/t"], ["StateDirectory", "/var/lib"]],
  [
    "a worker",
    { role: "worker", port: 443 },
    [
      "Description=Transcribe, worker of a fleet",
      "ExecStart=/usr/local/bin/transcribe worker --config /etc/transcribe/transcribe.toml",
      "StartLimitIntervalSec=0",
      "RestartSec=10",
      "PrivateUsers=yes",
    ],
    ["ExecReload", "StartLimitBurst", "CAP_", "serve --config"],
  ],
  ["no GPU groups", { deviceGroups: [] }, ["DevicePolicy=closed"], ["SupplementaryGroups"]],
];

describe("the unit of a package", () => {
  test("differs from the program's own unit only in its paths and its origin", () => {
    const own = unitFile(usual)
      .replace('Written by "transcribe service install"', "Part of the package transcribe")
      .replaceAll(servicePaths.program, packagePaths.program)
      .replaceAll(servicePaths.runtimeDirectory, packagePaths.runtimeDirectory);
    expect(packageUnit()).toBe(own);
  });
});

describe("the systemd unit", () => {
  test.each(cases)("has its lines, and no others, for %s", (_, change, lines, absent) => {
    const unit = unitFile({ ...usual, ...change });
    const written = unit.split("\n");
    expect(lines.filter((line) => !written.includes(line))).toEqual([]);
    expect(absent.filter((text) => unit.includes(text))).toEqual([]);
    // A directive without its line break would swallow the next one.
    expect(written.filter((line) => !/^(?:|#.*|\[\w+\]|\w+=[^=]*(?:=[^=]*)?)$/.test(line))).toEqual([]);
  });

  test("can be parsed for its user and settings file", () => {
    expect(readUnit(unitFile(usual))).toEqual({ user: usual.user, configFile: usual.configFile });
    expect(readUnit(unitFile({ ...usual, role: "worker" }))).toEqual({
      user: usual.user,
      configFile: usual.configFile,
    });
    expect(readUnit("[Service]\nExecStart=/bin/true\n")).toBeNull();
  });
});

const canAnalyze = runTool(["systemd-analyze", "--version"]).exitCode === 0;
if (!canAnalyze) console.warn("SKIPPED: systemd's analysis of the unit, because systemd-analyze is missing");

describe.skipIf(!canAnalyze)("systemd's analysis of the unit", () => {
  // In tenths; below 20 is the second best of systemd's five classes.
  const exposures: [string, Partial<typeof usual>, number][] = [
    ["the usual one", {}, 20],
    ["a low port", { port: 443 }, 24],
    ["data and a fence elsewhere", { dataDirectory: "/srv/t", fence: "/mnt/fence" }, 20],
    ["a worker", { role: "worker" }, 20],
  ];
  for (const [name, change, threshold] of exposures) {
    test(`reports no faults and an exposure below ${threshold / 10} for ${name}`, () => {
      using directory = temporaryDirectory();
      const file = join(directory.path, "transcribe.service");
      // Only the program itself may be missing.
      writeFileSync(
        file,
        unitFile({ ...usual, ...change }).replace("ExecStart=/usr/local/bin/transcribe", "ExecStart=/bin/true"),
      );
      const verified = runTool(["systemd-analyze", "verify", "--man=no", file]);
      expect([verified.exitCode, verified.stdout, verified.stderr]).toEqual([0, "", ""]);
      const security = runTool(["systemd-analyze", "security", "--offline=true", `--threshold=${threshold}`, file]);
      expect([security.exitCode, security.stdout.trim().split("\n").at(-1)]).toEqual([
        0,
        expect.stringContaining("OK"),
      ]);
    });
  }
});

test("the groups of a unit are returned by number, and only for its own user", () => {
  const unit = unitFile({ ...usual, user: "nobody" });
  const nobody = Number(runTool(["id", "-u", "nobody"]).stdout);
  const groups = "root:x:0:\nvideo:x:44:\nrender:x:105:me\nother:x:1000:\n";
  expect(serviceGroups(nobody, unit, groups)).toEqual([44, 105]);
  expect(serviceGroups(nobody, unit, "video:x:44:\n")).toEqual([44]);
  expect(serviceGroups(nobody + 1, unit, groups)).toEqual([]);
  expect(serviceGroups(0, unitFile({ ...usual, user: "no-such-user" }), groups)).toEqual([]);
  expect(serviceGroups(nobody, "", groups)).toEqual([]);
});

test("a drop-in file allows directories, also with spaces, quotes or percent signs, and is read as it was written", () => {
  using directory = temporaryDirectory();
  const units = join(directory.path, "etc/systemd/system");
  mkdirSync(join(units, "transcribe.service.d"), { recursive: true });
  const paths = ["/srv/in", "/srv/my dir", '/srv/50% "a"', "/srv/back\\slash"];
  expect(installedService(directory.path).dropInFor(paths)).toEqual([]);
  writeFileSync(join(units, "transcribe.service"), unitFile(usual));
  const dropIn = installedService(directory.path).dropInFor(paths);
  expect(dropIn).toEqual([
    "[Unit]",
    "RequiresMountsFor=/srv/in",
    'RequiresMountsFor="/srv/my dir"',
    'RequiresMountsFor="/srv/50%% \\"a\\""',
    'RequiresMountsFor="/srv/back\\\\slash"',
    "[Service]",
    "ReadWritePaths=-/srv/in",
    'ReadWritePaths="-/srv/my dir"',
    'ReadWritePaths="-/srv/50%% \\"a\\""',
    'ReadWritePaths="-/srv/back\\\\slash"',
  ]);
  writeFileSync(join(units, "transcribe.service.d/folders.conf"), dropIn.join("\n"));
  expect(installedService(directory.path).dropInFor([...paths, "/srv/in/inner"])).toEqual([]);
});
