import { describe, expect, test } from "bun:test";
import { lstatSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { pathSteps, untrustedWriter } from "../../src/files/index.ts";

/** User 1000 is trusted, 1001 is not. Each has a private group, and both are members of `team`. */
const lists = {
  users: "root:x:0:0:::\nme:x:1000:1000:::\nother:x:1001:1001:::\n",
  groups: "root:x:0:\nme:x:1000:\nother:x:1001:\nteam:x:2000:me,other\nmine:x:2001:me\ndirectory:x:2002:someone\n",
};
const [directory, link] = [0o040000, 0o120000];

describe("a directory or link on the way to a file", () => {
  const cases: [string, { uid: number; gid: number; mode: number }, string | null][] = [
    ["of this user that others may read", { uid: 1000, gid: 1000, mode: directory | 0o755 }, null],
    ["of root", { uid: 0, gid: 0, mode: directory | 0o755 }, null],
    ["of an untrusted user", { uid: 1001, gid: 1001, mode: directory | 0o700 }, "belongs to another user (uid 1001)"],
    ["of an untrusted user, and sticky", { uid: 1001, gid: 0, mode: directory | 0o1777 }, "belongs to another user"],
    ["that every user may write to", { uid: 1000, gid: 1000, mode: directory | 0o757 }, "by every user"],
    ["that every user may write to, of root", { uid: 0, gid: 0, mode: directory | 0o777 }, "by every user"],
    ["that every user may write to, and sticky as /tmp is", { uid: 0, gid: 0, mode: directory | 0o1777 }, null],
    [
      "that a group with an untrusted member may write to",
      { uid: 1000, gid: 2000, mode: directory | 0o775 },
      "group 2000",
    ],
    ["that such a group may write to, and sticky", { uid: 1000, gid: 2000, mode: directory | 0o1775 }, null],
    [
      "that an untrusted user's own group may write to",
      { uid: 1000, gid: 1001, mode: directory | 0o770 },
      "group 1001",
    ],
    ["that this user's own group may write to", { uid: 1000, gid: 1000, mode: directory | 0o775 }, null],
    ["that a group of this user alone may write to", { uid: 1000, gid: 2001, mode: directory | 0o770 }, null],
    ["that a group with an unknown user may write to", { uid: 1000, gid: 2002, mode: directory | 0o770 }, "group 2002"],
    ["that a group which no list names may write to", { uid: 0, gid: 3000, mode: directory | 0o2775 }, null],
    ["that root's group may write to", { uid: 0, gid: 0, mode: directory | 0o775 }, null],
    ["that is a link of this user", { uid: 1000, gid: 1000, mode: link | 0o777 }, null],
    ["that is a link of an untrusted user", { uid: 1001, gid: 1001, mode: link | 0o777 }, "belongs to another user"],
  ];
  test.each(cases)("%s is accepted or refused by its owner and its permissions", (_, rights, expected) => {
    const stats = Object.assign(lstatSync("/"), rights);
    const found = untrustedWriter(
      { path: "/x", stats },
      (userId) => [0, 1000].includes(userId),
      () => lists,
    );
    if (expected === null) expect(found).toBeNull();
    else expect(found).toContain(expected);
  });
});

describe("the way to a file", () => {
  test("includes every link of a chain, and the directories of these links", () => {
    using scope = temporaryDirectory();
    const at = (...names: string[]) => join(scope.path, ...names);
    for (const name of ["first", "second", "third/deep"]) mkdirSync(at(name), { recursive: true });
    symlinkSync("../second/link", at("first/link"));
    symlinkSync(at("third"), at("second/link"));
    const paths = pathSteps(at("first/link/deep/not/there")).map(({ path }) => path);
    const expected = ["first", "first/link", "second", "second/link", "third", "third/deep"].map((name) => at(name));
    expect(paths.filter((path) => path.startsWith(`${scope.path}/`))).toEqual(expected);
    expect(paths[0]).toBe("/");
  });

  test("that forms a cycle is refused", () => {
    using scope = temporaryDirectory();
    symlinkSync("b", join(scope.path, "a"));
    symlinkSync("a", join(scope.path, "b"));
    expect(() => pathSteps(join(scope.path, "a/x"))).toThrow("more than 40 links");
  });
});
