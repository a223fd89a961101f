import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { available, ffmpegPath, root } from "../../harness/checkout.ts";
import { allVariants, variantsHere } from "../../native/steps/cpu-variants.ts";
import { readElf } from "../support/elf.ts";

const directory = join(root, "build", "native");
const isBuilt = available("the hardening of the native libraries", join(directory, "whisper.node"));
const libraries = isBuilt ? readdirSync(directory).filter((name) => /\.(?:so|node)$/.test(name)) : [];
/** Small libraries that call no function with a bounds-checking variant in the C library. */
const withoutCheckedCalls = ["libggml.so", "whisper.node"];

/** Static programs: they import nothing, so checks of buffers are not visible as imports. */
const programs = ["ffmpeg", "confine"].map((name) => join(root, "build/ffmpeg", name));

/** Whether scripts/setup compiled ffmpeg; its directory in the cache says so. */
const isOwn = available("the hardening of ffmpeg", ...programs) && realpathSync(ffmpegPath).includes("/native-ffmpeg/");

describe.if(isOwn)("the programs that read recordings", () => {
  test.each(programs)("%s loads at a random address, with read-only tables and no executable stack", (path) => {
    expect(readElf(readFileSync(path))).toMatchObject({
      ...{ type: "shared", isRelocationReadOnly: true, bindsNow: true, isStackExecutable: false },
      ...{ hasTextRelocations: false, writableAndExecutable: 0, imports: [] },
    });
  });
});

describe.skipIf(!isBuilt)("the native libraries", () => {
  test("are the addon, whisper.cpp, ggml and a CPU variant for each kind of machine", () => {
    expect(libraries).toContain("whisper.node");
    expect(libraries).toContain("libwhisper.so");
    const variants = libraries.flatMap((name) => /^libggml-cpu-(.+)\.so$/.exec(name)?.[1] ?? []);
    expect([variantsHere(process.arch), allVariants(process.arch)].map((names) => names.toSorted())).toContainEqual(
      variants.toSorted(),
    );
  });

  test.each(libraries)("%s has read-only address tables, no executable stack and no text relocations", (name) => {
    const elf = readElf(readFileSync(join(directory, name)));
    expect(elf).toMatchObject({
      type: "shared",
      isRelocationReadOnly: true,
      bindsNow: true,
      isStackExecutable: false,
    });
    expect([elf.hasTextRelocations, elf.writableAndExecutable]).toEqual([false, 0]);
  });

  test.each(libraries)("%s detects stack smashing and overruns of buffers of known size", (name) => {
    const { imports } = readElf(readFileSync(join(directory, name)));
    expect(imports).toContain("__stack_chk_fail");
    if (withoutCheckedCalls.includes(name)) return;
    expect(imports.filter((each) => /^__\w+_chk$/.test(each))).not.toEqual([]);
  });
});
