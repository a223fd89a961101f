import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { temporaryDataDirectory } from "../../src/server/temporary-data-directory.ts";
import { DataDirectory } from "../../src/storage/index.ts";

const now = Date.now();
const old = new Date(now - 3_600_000);

test("a temporary data directory is removed with its content when it is disposed of", () => {
  using parent = temporaryDirectory();
  {
    using work = temporaryDataDirectory(parent.path, now);
    writeFileSync(work.directory.localAudio.pathOf(Bun.randomUUIDv7()), "audio");
    expect(readdirSync(parent.path)).toHaveLength(1);
  }
  expect(readdirSync(parent.path)).toEqual([]);
});

test("the directory of a killed command is removed; one that is in use, new, of another kind or a link is kept", () => {
  using parent = temporaryDirectory();
  const made = (name: string) => {
    const path = join(parent.path, name);
    mkdirSync(path);
    return path;
  };
  const left = made("transcribe-run-left");
  const used = made("transcribe-run-used");
  const fresh = made("transcribe-run-fresh");
  const noLock = made("transcribe-run-nolock");
  const elsewhere = made("elsewhere");
  new DataDirectory(left).lock()();
  new DataDirectory(elsewhere).lock()();
  new DataDirectory(fresh).lock()();
  const unlock = new DataDirectory(used).lock();
  symlinkSync(elsewhere, join(parent.path, "transcribe-run-link"));
  for (const path of [left, used, noLock, elsewhere]) utimesSync(path, old, old);

  using work = temporaryDataDirectory(parent.path, now);
  expect(existsSync(left)).toBe(false);
  for (const path of [used, fresh, noLock, elsewhere]) expect(existsSync(path)).toBe(true);
  expect(existsSync(join(elsewhere, "server.lock"))).toBe(true);
  expect(existsSync(work.directory.root)).toBe(true);
  unlock();
});

test("an unusable parent directory is refused with the variable that names another one", () => {
  expect(() => temporaryDataDirectory("/no/such/place", now)).toThrow("TMPDIR");
  expect(() => temporaryDataDirectory("/proc", now)).toThrow("TMPDIR");
});
