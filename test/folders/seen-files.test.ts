import { describe, expect, test } from "bun:test";
import type { FileFacts } from "../../src/folders/open-directory.ts";
import { SeenFiles } from "../../src/folders/seen-files.ts";

const patience = { settleMilliseconds: 10, doubtMilliseconds: 100 };
const owner = { userId: 0, groupId: 0, mode: 0o644 };

function facts(name: string, changes: Partial<FileFacts> = {}): FileFacts {
  return { name, kind: "file", sizeBytes: 5, modified: "1", inode: "7", owner, ...changes };
}

function watching(...names: string[]) {
  let now = 0;
  const seen = new SeenFiles(() => now);
  seen.choose(names);
  for (const name of names) seen.see(facts(name));
  const settled = () => seen.settled(patience).map(({ facts: { name }, isLast }) => (isLast ? `${name} last` : name));
  return { seen, settled, at: (time: number) => (now = time) };
}

describe("a file that is seen in a folder", () => {
  test("has settled when it has not changed for long enough", () => {
    const { seen, settled, at } = watching("a");
    at(9);
    expect(settled()).toEqual([]);
    at(10);
    seen.see(facts("a"));
    expect(settled()).toEqual(["a"]);
  });

  test.each([
    ["size", { sizeBytes: 6 }],
    ["time", { modified: "2" }],
    ["kind", { kind: "linked" as const }],
  ])("starts to wait again when its %s changes", (_, change) => {
    const { seen, settled, at } = watching("a");
    at(10);
    seen.see(facts("a", change));
    expect(settled()).toEqual([]);
    at(20);
    expect(settled()).toEqual(["a"]);
  });

  test("settles although its inode changes, because some network file systems invent inodes", () => {
    const { seen, settled, at } = watching("a");
    at(10);
    seen.see(facts("a", { inode: "8" }));
    expect(settled()).toEqual(["a"]);
  });

  test("that seems to be incomplete is examined again after the long wait, or when it has changed", () => {
    const { seen, settled, at } = watching("a", "b");
    at(10);
    seen.suspect("a", "zeros");
    seen.suspect("b", "empty");
    expect(settled()).toEqual([]);
    expect(seen.incomplete(patience)).toEqual([
      { name: "a", doubt: "zeros" },
      { name: "b", doubt: "empty" },
    ]);
    seen.see(facts("b", { sizeBytes: 6 }));
    expect(seen.incomplete(patience)).toEqual([{ name: "a", doubt: "zeros" }]);
    at(20);
    expect(settled()).toEqual(["b"]);
    at(100);
    expect(settled()).toEqual(["a last", "b"]);
    expect(seen.incomplete(patience)).toEqual([]);
  });

  test("is forgotten when it is gone, and waits anew when it comes back", () => {
    const { seen, settled, at } = watching("a");
    at(50);
    seen.choose([]);
    seen.see(facts("a"));
    expect(settled()).toEqual([]);
  });

  test("that can't be opened leaves its place to others, and settles again", () => {
    const { seen, settled, at } = watching("a", "b");
    at(10);
    seen.defer("a", "denied");
    expect([seen.choose(["a", "b", "c"]), seen.hindrance]).toEqual([["b", "c"], "denied"]);
    at(15_010);
    expect(seen.choose(["a", "b", "c"])).toEqual(["b", "c", "a"]);
    for (const name of ["a", "b", "c"]) seen.see(facts(name));
    expect(settled()).toEqual(["b last"]);
    at(15_020);
    expect(settled()).toEqual(["b last", "a", "c"]);
    seen.defer("a", "denied");
    at(45_019);
    expect(seen.choose(["a", "b", "c"])).toEqual(["b", "c"]);
    at(45_020);
    expect(seen.choose(["a", "b", "c"])).toEqual(["b", "c", "a"]);
    expect(seen.choose(["b", "c"])).toEqual(["b", "c"]);
    expect(seen.hindrance).toBeNull();
  });

  test("keeps its place before files that come later; at most 500 are watched", () => {
    const seen = new SeenFiles(() => 0);
    const names = Array.from({ length: 600 }, (_, index) => `file ${String(index).padStart(3, "0")}`);
    seen.choose(["z"]);
    seen.see(facts("z"));
    const chosen = seen.choose([...names.toReversed(), "z"]);
    expect([chosen.length, chosen[0], chosen[1]]).toEqual([500, "z", "file 000"]);
  });
});
