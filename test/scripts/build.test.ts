import { describe, expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../harness/checkout.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { targetsOf } from "../../native/steps/target.ts";
import { bundlePage } from "../../src/console/index.ts";
import { patchedBun } from "../../tools/build/compile.ts";
import { readFfmpeg } from "../../tools/build/ffmpeg-notice.ts";
import { requireNotices } from "../../tools/build/package-notices.ts";
import { embeddedPage } from "../../tools/build/plugins.ts";
import { type Target, targetOf } from "../../tools/build/target.ts";
import { renewChecksums } from "../../tools/shared/checksums.ts";

describe("scripts/build", () => {
  const linux = (architecture: "x64" | "arm64"): Target => ({ name: `linux-${architecture}`, architecture, cuda: [] });

  test.each<[string[], string[], Target | RegExp]>([
    [[], ["x64", "arm64"], linux("x64")],
    [[], ["arm64"], linux("arm64")],
    [["--target", "linux-x64"], ["x64", "arm64"], linux("x64")],
    [["--target=linux-arm64"], ["x64", "arm64"], linux("arm64")],
    [["--target", "linux-x64"], ["arm64"], /builds for linux-arm64, not for linux-x64: /],
    [["--cuda"], ["x64"], { ...linux("x64"), cuda: ["90"] }],
    [
      ["--cuda", "--cuda-architectures", "80, 86-real,120a"],
      ["x64"],
      { ...linux("x64"), cuda: ["80", "86-real", "120a"] },
    ],
    [["--cuda", "--cuda-architectures", "sm_90"], ["x64"], /"sm_90" is not a CUDA architecture/],
    [["--cuda", "--cuda-architectures", "90;rm"], ["x64"], /is not a CUDA architecture/],
    [["--cuda", "--cuda-architectures="], ["x64"], /"" is not a CUDA architecture/],
    [["--cuda-architectures", "90"], ["x64"], /give both/],
    [["--cuda", "--target", "linux-arm64"], ["x64", "arm64"], /must be built on such a machine/],
    [["--target", "linux-riscv64"], ["x64", "arm64"], /builds for linux-x64 and linux-arm64, not for linux-riscv64: /],
    [["--target", "arm64"], ["x64", "arm64"], /not for arm64/],
    [["--target", ""], ["x64"], /not for /],
    [["--target"], ["x64"], /argument missing/],
    [["--tarmac"], ["x64"], /--tarmac/],
    [["linux-arm64"], ["x64", "arm64"], /linux-arm64/],
  ])("with %j on a machine that compiles for %j, selects or refuses a target", (args, architectures, expected) => {
    if (expected instanceof RegExp) expect(() => targetOf(args, architectures)).toThrow(expected);
    else expect(targetOf(args, architectures)).toEqual(expected);
  });

  test("always builds for this machine", () => {
    expect<string>(targetOf([]).architecture).toBe(process.arch);
    expect(targetsOf("x64").map(({ architecture }) => architecture)).toEqual(["x64", "arm64"]);
    expect(targetsOf("arm64").map(({ architecture }) => architecture)).toEqual(["arm64"]);
  });

  const sum = (digit: string, name: string) => `${digit.repeat(64)}  ${name}\n`;

  test.each([
    ["", sum("a", "t-x64")],
    [sum("1", "t-x64"), sum("a", "t-x64")],
    [sum("1", "t-x64") + sum("2", "t-x64.oci.tar"), sum("a", "t-x64")],
    [sum("a", "t-x64") + sum("2", "t-x64.deb"), sum("2", "t-x64.deb") + sum("a", "t-x64")],
    [sum("1", "t-arm64") + sum("2", "t-x64"), sum("1", "t-arm64") + sum("a", "t-x64")],
    [sum("1", "t-x640"), sum("1", "t-x640") + sum("a", "t-x64")],
    [sum("1", "gone"), sum("a", "t-x64")],
    ["cut sho", sum("a", "t-x64")],
  ])("keeps only valid lines in the list of checksums: %j", (list, expected) => {
    expect(renewChecksums(list, { name: "t-x64", sha256: "a".repeat(64) }, (name) => name !== "gone")).toBe(expected);
  });

  const ffmpeg = [
    "\0xFFmpeg version n9.0-1-gab\0%s version %s\0FFmpeg version n9.0-1-gab\0",
    "--prefix=/p --enable-gpl\0%s is free software; you can\nversion 3 of %s\n\0",
  ];

  test("reads the report of an ffmpeg that cannot run here", async () => {
    using directory = temporaryDirectory();
    const path = join(directory.path, "ffmpeg");
    await Bun.write(path, ffmpeg.join("\0"));
    expect(await readFfmpeg(path)).toEqual({
      version: "ffmpeg version n9.0-1-gab\nconfiguration: --prefix=/p --enable-gpl",
      licence: "ffmpeg is free software; you can\nversion 3 of ffmpeg",
    });
    for (const [content, complaint] of [
      ["nothing", "0 strings with its version"],
      [`FFmpeg version 8.1\0${ffmpeg.join("\0")}`, "2 strings with its version"],
      [ffmpeg[0] ?? "", "0 strings with its configuration"],
    ] as const) {
      await Bun.write(path, content);
      await expect(readFfmpeg(path)).rejects.toThrow(complaint);
    }
  });

  const notices = ["elysia", "@fastify/busboy"].map((name) => ({
    ...{ name, version: "1", licence: "MIT", source: "", text: "MIT" },
  }));

  test.each([
    [["src/main.ts", "node_modules/elysia/dist/index.js", "../main/node_modules/@fastify/busboy/lib/main.js"], null],
    [["node_modules/elysia/node_modules/cookie/index.js"], "cookie"],
    [["node_modules/@fastify/other/index.js", "node_modules/elysia/index.js"], "@fastify/other"],
    [["src/main.ts"], "no package"],
  ])("accepts no code without a notice: %j", (inputs, complaint) => {
    if (complaint === null) expect(() => requireNotices(inputs, notices)).not.toThrow();
    else expect(() => requireNotices(inputs, notices)).toThrow(complaint);
  });

  test("refuses a Bun that reads the variables in another way", async () => {
    using directory = temporaryDirectory();
    mkdirSync(join(directory.path, "tmp"));
    const bun = join(directory.path, "bun");
    for (const content of ["nothing", "\0BUN_BE_BUN\0BUN_BE_BUN\0BUN_OPTIONS\0BUN_ENABLE_CRASH_REPORTING\0"]) {
      await Bun.write(bun, content);
      await expect(patchedBun(bun, directory.path)).rejects.toThrow(/does not contain BUN_BE_BUN exactly once/);
    }
    await Bun.write(bun, "\0BUN_BE_BUN\0BUN_OPTIONS\0BUN_ENABLE_CRASH_REPORTING\0XBUN_OPTIONS\0");
    const deaf = await Bun.file(await patchedBun(bun, directory.path)).text();
    expect(deaf).toBe("\0\0UN_BE_BUN\0\0UN_OPTIONS\0\0UN_ENABLE_CRASH_REPORTING\0XBUN_OPTIONS\0");
  });

  test("contains the bundled page of the console, and no bundler", async () => {
    const page = await bundlePage();
    const { outputs, metafile } = await Bun.build({
      entrypoints: [join(root, "src/console/server/assets.ts")],
      target: "bun",
      metafile: true,
      plugins: [embeddedPage(page)],
    });
    expect(Object.keys(metafile?.inputs ?? {}).filter((path) => path.includes("bundle-page"))).toEqual([]);
    using directory = temporaryDirectory();
    const path = join(directory.path, "assets.js");
    await Bun.write(path, outputs[0] ?? "");
    const { consoleAssets } = await import(path);
    const { inputs: _, ...assets } = page;
    expect(await consoleAssets()).toEqual(assets);
  });
});
