import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeKeyPair, readSecretKey, signFile } from "../../scripts/support/minisign.ts";
import { markedDescription } from "../../src/release/program-file.ts";
import { openDatabase } from "../../src/storage/index.ts";
import { migrationNames } from "../../src/storage/migrate.ts";
import { runCli } from "../support/server.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const platform = `${process.platform}-${process.arch}`;
const elfMachines: Readonly<Record<string, number>> = { x64: 62, arm64: 183 };

/** Returns a file with an ELF header and a description, as a program has them. */
function programFile(changes: Record<string, unknown> = {}, architecture: string = process.arch): Buffer {
  const header = Buffer.alloc(64);
  header.set([0x7f, 0x45, 0x4c, 0x46, 2, 1]);
  header.writeUInt16LE(elfMachines[architecture] ?? 0, 18);
  const description = { version: "99.0.0", commit: "a".repeat(40), target: platform, migrations: [...migrationNames] };
  // The description begins in one block of a read and ends in the next.
  return Buffer.concat([
    header,
    Buffer.alloc((1 << 20) - 164),
    Buffer.from(markedDescription({ ...description, ...changes })),
    Buffer.alloc(100),
  ]);
}

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

  const verify = (path: string, ...args: string[]) => runCli(["verify", path, "--data-dir", data, ...args]);

  test.each([
    ["the file of a key", keyFile],
    ["a key", key],
  ])("accepts a signed program with %s", async (_, given) => {
    const { exitCode, stdout } = await verify(release({ file: programFile() }), "--key", given, "--json");
    expect(JSON.parse(stdout)).toMatchObject({ version: "99.0.0", commit: "a".repeat(40), target: platform, ok: true });
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

  test("without a key reports that the signature is not checked", async () => {
    const { exitCode, stdout } = await verify(release({ file: programFile(), signature: () => null }));
    expect(stdout).toMatch(/^signature +not checked +.*--key/m);
    expect(exitCode).toBe(0);
  });

  const twoPrograms = Buffer.concat([programFile(), programFile({ version: "98.0.0" })]);
  const manyMarks = Buffer.concat(Array.from({ length: 20 }, () => programFile().subarray(-1_000)));
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
      { file: programFile({}, process.arch === "x64" ? "arm64" : "x64") },
      /^platform +FAILED/m,
    ],
  ])("refuses %s", async (_, files, complaint) => {
    const { exitCode, stdout, stderr } = await verify(release(files), "--key", key);
    expect(stdout).toMatch(complaint);
    expect(stderr).toMatch(/failed: [a-z, ]+; do not install it/);
    expect(exitCode).toBe(1);
  });

  test("refuses a file full of descriptions, a pipe and an unusable key", async () => {
    expect((await verify(release({ file: manyMarks }))).stderr).toMatch(/is not a program/);
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
      runCli(["verify", path, "--data-dir", owned, "--key", key, ...args]);
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
  }, 30_000);
});
