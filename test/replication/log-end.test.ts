import { expect, test } from "bun:test";
import { copyFileSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { readLogEnd, writeLogEnd } from "../../src/replication/log-end.ts";
import type { LogPosition } from "../../src/replication/log-format.ts";

const position: LogPosition = { salt: "0123456789abcdef", frames: 7, sum: [1, 2] };

const changes: Readonly<Record<string, (path: string) => void>> = {
  "the same bytes are written again": (path) => writeFileSync(path, "content", { flag: "r+" }),
  "bytes are written, and the time of change is set back": (path) => {
    writeFileSync(path, "another", { flag: "r+" });
    utimesSync(path, 1_000_000, 1_000_000);
  },
  "another file gets its name": (path) => {
    copyFileSync(path, `${path}.copy`);
    renameSync(`${path}.copy`, path);
  },
  "it is removed": (path) => rmSync(path),
};

test("the end of a log is known while nobody has changed the database's file", () => {
  using temporary = temporaryDirectory();
  const [path, end] = [join(temporary.path, "transcribe.db"), join(temporary.path, "end.json")];
  writeFileSync(path, "content");
  utimesSync(path, 1_000_000, 1_000_000);
  writeLogEnd(end, path, position);
  expect([readLogEnd(end, path, "boot"), readLogEnd(end, path, "always")]).toEqual([position, position]);
});

test.each(Object.keys(changes))("the end of a log is not known any more when %s", async (change) => {
  using temporary = temporaryDirectory();
  const [path, end] = [join(temporary.path, "transcribe.db"), join(temporary.path, "end.json")];
  writeFileSync(path, "content");
  utimesSync(path, 1_000_000, 1_000_000);
  writeLogEnd(end, path, position);
  // Times of change have the resolution of the kernel's clock.
  await Bun.sleep(20);
  changes[change]?.(path);
  expect([readLogEnd(end, path, "boot"), readLogEnd(end, path, "always")]).toEqual([null, null]);
});

test("a server does not use the end of a log after a restart of its machine, which may have lost times of change", () => {
  using temporary = temporaryDirectory();
  const [path, end] = [join(temporary.path, "transcribe.db"), join(temporary.path, "end.json")];
  writeFileSync(path, "content");
  writeLogEnd(end, path, position);
  const stored = JSON.parse(readFileSync(end, "utf8")) as Record<string, unknown>;
  for (const boot of ["", "00000000-0000-0000-0000-000000000000"]) {
    writeFileSync(end, JSON.stringify({ ...stored, boot }));
    expect([readLogEnd(end, path, "boot"), readLogEnd(end, path, "always")]).toEqual([null, position]);
  }
  for (const damaged of ["", "{", "{}", JSON.stringify({ ...stored, position: { ...position, salt: "x" } })]) {
    writeFileSync(end, damaged);
    expect(readLogEnd(end, path, "always")).toBeNull();
  }
});
