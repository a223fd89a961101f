import { describe, expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { deafBun } from "../../scripts/support/build/bun-program.ts";
import { targetOf } from "../../scripts/support/build/target.ts";
import { requireNotices } from "../../scripts/support/build/write-notices.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const here = `${process.platform}-${process.arch}`;

describe("scripts/build", () => {
  test("builds for this machine, and says where another target can be built", () => {
    expect([targetOf([]), targetOf(["--target", here])]).toEqual([here, here]);
    expect(() => targetOf(["--target", "linux-riscv64"])).toThrow(/on one of linux-riscv64/);
    expect(() => targetOf(["--tarmac"])).toThrow(/--tarmac/);
  });

  const notices = ["elysia", "@fastify/busboy"].map((name) => ({
    ...{ name, version: "1", licence: "MIT", source: "", text: "MIT" },
  }));

  test.each([
    [["src/main.ts", "node_modules/elysia/dist/index.js", "../main/node_modules/@fastify/busboy/lib/main.js"], null],
    [["node_modules/elysia/node_modules/cookie/index.js"], "cookie"],
    [["node_modules/@fastify/other/index.js", "node_modules/elysia/index.js"], "@fastify/other"],
    [["src/main.ts"], "no package"],
  ])("takes no code without a notice: %j", (inputs, complaint) => {
    if (complaint === null) expect(() => requireNotices(inputs, notices)).not.toThrow();
    else expect(() => requireNotices(inputs, notices)).toThrow(complaint);
  });

  test("takes no Bun that reads the variables in another way", async () => {
    using directory = temporaryDirectory();
    mkdirSync(join(directory.path, "tmp"));
    const bun = join(directory.path, "bun");
    for (const content of ["nothing", "\0BUN_BE_BUN\0BUN_BE_BUN\0BUN_OPTIONS\0BUN_ENABLE_CRASH_REPORTING\0"]) {
      await Bun.write(bun, content);
      await expect(deafBun(bun, directory.path)).rejects.toThrow(/does not have BUN_BE_BUN in it once/);
    }
    await Bun.write(bun, "\0BUN_BE_BUN\0BUN_OPTIONS\0BUN_ENABLE_CRASH_REPORTING\0XBUN_OPTIONS\0");
    const deaf = await Bun.file(await deafBun(bun, directory.path)).text();
    expect(deaf).toBe("\0\0UN_BE_BUN\0\0UN_OPTIONS\0\0UN_ENABLE_CRASH_REPORTING\0XBUN_OPTIONS\0");
  });
});
