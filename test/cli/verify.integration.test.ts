import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { openDatabase } from "../../src/database/index.ts";
import { migrationNames } from "../../src/database/migrate.ts";
import { readSecretKey, signFile } from "../../tools/release/minisign.ts";
import { writeAptRepository } from "../../tools/release/package/debian-package.ts";
import { makeKeyPair } from "../support/minisign-keys.ts";
import { packageFacts, packFiles, platform, programFile } from "../support/program-file.ts";
import { runHere } from "./run-here.ts";

interface Release {
  readonly file: Buffer;
  readonly sums?: (sha256: string) => string;
  readonly signature?: (sums: string) => string | null;
}

describe("transcribe verify", () => {
  const scope = temporaryDirectory();
  afterAll(() => scope[Symbol.dispose]());
  const pair = makeKeyPair();
  const secret = readSecretKey(pair.secret);
  const keyFile = join(scope.path, "release.pub");
  writeFileSync(keyFile, pair.public);
  const key = pair.public.split("\n")[1] ?? "";
  const data = join(scope.path, "data");
  let releases = 0;

  /** Writes a release and returns the path of its program. */
  function release({ file, sums, signature }: Release): string {
    const folder = join(scope.path, String(releases++));
    mkdirSync(folder);
    const path = join(folder, "transcribe");
    writeFileSync(path, file);
    const sha256 = new Bun.CryptoHasher("sha256").update(file).digest("hex");
    const list = (sums ?? ((digest) => `${digest}  transcribe\n`))(sha256);
    writeFileSync(join(folder, "SHA256SUMS"), list);
    const made = (signature ?? ((text) => signFile(Buffer.from(text), secret, "transcribe 99.0.0")))(list);
    if (made !== null) writeFileSync(join(folder, "SHA256SUMS.minisig"), made);
    return path;
  }

  const verify = (path: string, ...args: string[]) => runHere(["verify", path, "--data-dir", data, ...args]);

  test.each([
    ["the file of a key", keyFile],
    ["a key", key],
  ])("accepts a signed program with %s", async (_, given) => {
    const { exitCode, stdout } = await verify(release({ file: programFile() }), "--key", given, "--json");
    expect(JSON.parse(stdout)).toMatchObject({ kind: "program", version: "99.0.0", target: platform, ok: true });
    const results = JSON.parse(stdout).checks.map(({ name, ok }: { name: string; ok: boolean | null }) => [name, ok]);
    expect(results).toEqual([
      ["signature", true],
      ["checksum", true],
      ["program", true],
      ["platform", true],
      ["database", null],
    ]);
    expect(exitCode).toBe(0);
  });

  const canPack = Bun.which("dpkg-deb") !== null && Bun.which("dpkg-scanpackages") !== null;
  if (!canPack) console.warn("SKIPPED: verifying a Debian package; missing: dpkg-deb or dpkg-scanpackages");
  test.skipIf(!canPack)("checks the program in a Debian package and in an apt repository like a program", async () => {
    const deb = await packFiles(join(scope.path, "package"), { "usr/bin/transcribe": programFile() });
    await writeAptRepository(`${deb}.apt.tar`, deb, packageFacts);
    const names = ["signature", "checksum", "program", "platform", "database"];
    for (const [file, kind, title] of [
      [deb, "debian_package", "Debian package"],
      [`${deb}.apt.tar`, "apt_repository", "apt repository"],
    ] as const) {
      const path = release({ file: readFileSync(file) });
      const { exitCode, stdout } = await verify(path, "--key", key, "--json");
      const { checks, ...result } = JSON.parse(stdout);
      expect(result).toMatchObject({ kind, version: "99.0.0", commit: "a".repeat(40), target: platform, ok: true });
      expect(checks.map(({ name }: { name: string }) => name)).toEqual(names);
      expect(checks[2].detail).toStartWith(`${title} with transcribe 99.0.0, commit`);
      expect(exitCode).toBe(0);
      const changed = release({ file: readFileSync(file), sums: () => `${"0".repeat(64)}  transcribe\n` });
      expect((await verify(changed)).stdout).toMatch(/^checksum +FAILED/m);
    }
    const cutOff = readFileSync(deb).subarray(0, -100);
    expect((await verify(release({ file: cutOff }))).stdout).toMatch(/^program +FAILED +.*it was cut off/m);
  });

  test("without a key reports that the signature is not checked", async () => {
    const { exitCode, stdout } = await verify(release({ file: programFile(), signature: () => null }));
    expect(stdout).toMatch(/^signature +not checked +.*--key/m);
    expect(exitCode).toBe(0);
  });

  const twoPrograms = Buffer.concat([programFile(), programFile({ version: "98.0.0" })]);
  const manyMarks = Buffer.concat(Array.from({ length: 20 }, () => programFile()));
  test.each<[string, Release, RegExp]>([
    ["a changed file", { file: programFile(), sums: () => `${"0".repeat(64)}  transcribe\n` }, /^checksum +FAILED/m],
    ["no checksum", { file: programFile(), sums: (sha256) => `${sha256}  other\n` }, /has 0 checksums/],
    [
      "two checksums",
      { file: programFile(), sums: (sha256) => `${sha256}  transcribe\n${sha256} *transcribe\n` },
      /has 2 checksums/,
    ],
    ["no signature", { file: programFile(), signature: () => null }, /no \.minisig file/],
    [
      "the signature of another list",
      { file: programFile(), signature: () => signFile(Buffer.from("other"), secret, "c") },
      /not of this file/,
    ],
    [
      "the signature of another key",
      {
        file: programFile(),
        signature: (sums) => signFile(Buffer.from(sums), readSecretKey(makeKeyPair().secret), "c"),
      },
      /was made with the key/,
    ],
    ["a file full of descriptions", { file: manyMarks }, /no Transcribe program/],
    ["a file that is no program", { file: Buffer.from("#!/bin/sh\n") }, /no Transcribe program/],
    ["a file with two descriptions", { file: twoPrograms }, /no Transcribe program/],
    [
      "a script with a description",
      { file: Buffer.concat([Buffer.from("#!/bin/sh\n"), programFile()]) },
      /no Transcribe program/,
    ],
    ["another platform", { file: programFile({ target: "linux-riscv64" }) }, /is for linux-riscv64, this machine is/],
    [
      "a description of another architecture",
      { file: programFile({}, { architecture: process.arch === "x64" ? "arm64" : "x64" }) },
      /^platform +FAILED/m,
    ],
  ])("refuses %s", async (_, files, complaint) => {
    const { exitCode, stdout, stderr } = await verify(release(files), "--key", key);
    expect(stdout).toMatch(complaint);
    expect(stderr).toMatch(/failed: [a-z, ]+; do not install it/);
    expect(exitCode).toBe(1);
  });

  test("refuses a pipe and an unusable key", async () => {
    const pipe = join(scope.path, "pipe");
    Bun.spawnSync(["mkfifo", pipe]);
    writeFileSync(join(scope.path, "SHA256SUMS"), "");
    expect((await verify(pipe)).stderr).toMatch(/not a regular file/);
    const { exitCode, stderr } = await verify(release({ file: programFile() }), "--key", "/dev/null");
    expect([exitCode, stderr]).toEqual([1, expect.stringMatching(/not a regular file/)]);
  });

  test("refuses a program that is older than the database, unless that is allowed", async () => {
    const owned = join(scope.path, "used");
    mkdirSync(owned, { mode: 0o700 });
    const store = openDatabase(join(owned, "transcribe.db"));
    store.$client.close();
    const run = (path: string, ...args: string[]) =>
      runHere(["verify", path, "--data-dir", owned, "--key", key, ...args]);
    const known = release({ file: programFile() });
    expect((await run(known)).stdout).toMatch(/^database +ok/m);
    const older = release({ file: programFile({ version: "0.1.0" }) });
    expect(await run(older)).toMatchObject({
      exitCode: 1,
      stdout: expect.stringMatching(/version 0\.1\.0 is older than/),
    });
    const without = release({ file: programFile({ migrations: migrationNames.slice(0, -1) }) });
    expect(await run(without)).toMatchObject({ exitCode: 1, stdout: expect.stringMatching(/does not know/) });
    expect(await run(without, "--allow-older")).toMatchObject({ exitCode: 0 });
    writeFileSync(join(owned, "transcribe.db"), "no database at all, but long enough to be read as one".repeat(20));
    expect(await run(known)).toMatchObject({ exitCode: 1, stdout: expect.stringMatching(/can't be read/) });
  }, 60_000);
});
