import { expect, test } from "bun:test";
import { join } from "node:path";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { onlyOnce } from "../../tools/shared/python.ts";

test("processes that fill an entry of the cache at the same time wait for the first, and do not fill it again", async () => {
  using directory = temporaryDirectory();
  const [log, entry] = ["log", "entry"].map((name) => join(directory.path, name));
  const fill = ["sh", "-c", `echo filled >> '${log}'; sleep 0.1; mkdir '${entry}'`];
  const children = [1, 2, 3].map(() => Bun.spawn(onlyOnce(directory.path, "entry", fill)));
  expect(await Promise.all(children.map((child) => child.exited))).toEqual([0, 0, 0]);
  expect(await Bun.file(log ?? "").text()).toBe("filled\n");
});

test("a process whose filling fails reports it, and leaves the entry to the next", async () => {
  using directory = temporaryDirectory();
  expect(await Bun.spawn(onlyOnce(directory.path, "entry", ["false"])).exited).toBe(1);
  expect(await Bun.spawn(onlyOnce(directory.path, "entry", ["mkdir", join(directory.path, "entry")])).exited).toBe(0);
});
