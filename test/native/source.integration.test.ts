import { describe, expect, test } from "bun:test";
import { cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { available, root } from "../../harness/checkout.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { buildCuda } from "../../native/build-cuda.ts";
import { applyPatch } from "../../native/steps/apply-patch.ts";
import { findCudaToolkit } from "../../native/steps/cuda-toolkit.ts";
import { unpackDebianPackages } from "../../native/steps/debian-packages.ts";
import { backendKey, nativeKey } from "../../native/steps/key.ts";
import { backendPatches, prepareBackendSource, prepareSource, whisperSource } from "../../native/steps/source.ts";
import { targetsOf } from "../../native/steps/target.ts";
import { findTools, runTool } from "../../native/steps/tools.ts";

const nativeDirectory = join(root, "native");
const canBuild = available("preparing the native source", ...["cmake", "c++"].map((tool) => Bun.which(tool) ?? tool));

describe.skipIf(!canBuild)("the native source", () => {
  test("accepts every patch, and the package's own copy stays unchanged", async () => {
    using directory = temporaryDirectory();
    const original = join(whisperSource(root), "src", "whisper.cpp");
    const before = readFileSync(original, "utf8");
    const into = join(directory.path, "source");
    await prepareSource({ repository: root, nativeDirectory, into });
    expect(readFileSync(join(into, "src", "whisper.cpp"), "utf8")).not.toBe(before);
    expect(readFileSync(original, "utf8")).toBe(before);
  });

  test("has a new build key for every change, and only then", async () => {
    using directory = temporaryDirectory();
    const tools = await findTools({ architecture: process.arch, cross: undefined });
    const copy = join(directory.path, "native");
    cpSync(nativeDirectory, copy, { recursive: true });
    const keyOf = (compilerVersion: string, architecture = "x64", variants = ["x64"]) =>
      nativeKey(
        { nativeDirectory: copy, repository: root, tools: { ...tools, compilerVersion }, architecture },
        variants,
      );
    const key = await keyOf("one");
    expect(await keyOf("one")).toBe(key);
    expect(await keyOf("another")).not.toBe(key);
    expect(await keyOf("one", "arm64")).not.toBe(key);
    expect(await keyOf("one", "x64", ["x64", "haswell"])).not.toBe(key);
    // A GPU backend and the program that confines ffmpeg are separate builds: a change of one rebuilds no other.
    const vulkanKey = async (more: unknown = 1) =>
      backendKey({
        ...{ nativeDirectory: copy, repository: root, tools, architecture: "x64", folder: "vulkan", more },
        files: await backendPatches(copy, "vulkan"),
      });
    const vulkan = await vulkanKey();
    expect(await vulkanKey(2)).not.toBe(vulkan);
    writeFileSync(join(copy, "vulkan", "CMakeLists.txt"), "changed");
    expect(await keyOf("one")).toBe(key);
    expect(await vulkanKey()).not.toBe(vulkan);
    writeFileSync(join(copy, "confine", "confine.cpp"), "changed");
    expect(await keyOf("one")).toBe(key);
    const changed = await vulkanKey();
    writeFileSync(join(copy, "src", "addon.cpp"), "changed");
    expect(await keyOf("one")).not.toBe(key);
    expect(await vulkanKey()).toBe(changed);
    // A change of the source that all of ggml's libraries share changes both keys.
    writeFileSync(
      join(copy, "patches", "speed", "99-shared.patch"),
      "Why.\n\n--- a/ggml/include/ggml.h\n+++ b/ggml/include/ggml.h\n",
    );
    expect(await vulkanKey()).not.toBe(changed);
  });

  test("of a GPU backend accepts its patches, and contains no other backend", async () => {
    using directory = temporaryDirectory();
    const patches = await backendPatches(nativeDirectory, "vulkan");
    expect(patches.length).toBeGreaterThan(0);
    const into = join(directory.path, "source");
    const ggml = await prepareBackendSource({
      repository: root,
      nativeDirectory,
      backend: "ggml-vulkan",
      patches,
      into,
    });
    const sources = readdirSync(join(ggml, "src"));
    expect(sources).toContain("ggml-vulkan");
    expect(sources).not.toContain("ggml-cuda");
  });

  test("is checked against another tree, and the report names each patch that does not fit it", () => {
    using directory = temporaryDirectory();
    const tree = join(directory.path, "whisper.cpp");
    for (const part of ["CMakeLists.txt", "ggml", "include", "src"]) {
      cpSync(join(whisperSource(root), part), join(tree, part), { recursive: true });
    }
    const check = () => {
      const { exitCode, stdout } = Bun.spawnSync([join(root, "scripts", "check-patches"), tree]);
      return { exitCode, failed: [...stdout.toString().matchAll(/^FAILS +(\S+):/gm)].map(([, name]) => name) };
    };
    expect(check()).toEqual({ exitCode: 0, failed: [] });
    const cmake = join(tree, "ggml", "src", "CMakeLists.txt");
    writeFileSync(cmake, readFileSync(cmake, "utf8").replace("variant tag_name)", "variant another_name)"));
    expect(check()).toEqual({ exitCode: 1, failed: ["patches/hooks/01-choose-cpu-variants.patch"] });
  }, 60_000);

  test("a patch applies to its lines, also after other lines were inserted before them, and only there", async () => {
    using directory = temporaryDirectory();
    const file = join(directory.path, "a.c");
    const patch = "Why.\n\n--- a/a.c\n+++ b/a.c\n@@ -2,2 +2,3 @@\n two\n-three\n+3\n+three and a half\n";
    writeFileSync(file, "zero\nhalf\none\ntwo\nthree\nfour\n");
    await applyPatch(directory.path, patch);
    expect(readFileSync(file, "utf8")).toBe("zero\nhalf\none\ntwo\n3\nthree and a half\nfour\n");
    await expect(applyPatch(directory.path, patch)).rejects.toThrow("does not fit a.c");
  });

  test("a patch creates a missing file, and does not overwrite an existing one", async () => {
    using directory = temporaryDirectory();
    writeFileSync(join(directory.path, "a.c"), "one\n");
    const changed = "--- a/a.c\n+++ b/a.c\n@@ -1,1 +1,1 @@\n-one\n+two\n";
    const made = "--- /dev/null\n+++ b/b.h\n@@ -0,0 +1,2 @@\n+three\n+four\n";
    await applyPatch(directory.path, `Why.\n\n${changed}${made}`);
    expect(readFileSync(join(directory.path, "a.c"), "utf8")).toBe("two\n");
    expect(readFileSync(join(directory.path, "b.h"), "utf8")).toBe("three\nfour\n");
    await expect(applyPatch(directory.path, `Why.\n\n${made}`)).rejects.toThrow("EEXIST");
  });

  test.each([
    [undefined, /for riscv64 without c\+\+: .*apt install g\+\+ cmake/],
    [
      targetsOf("x64")[1]?.cross,
      /for riscv64 without aarch64-linux-gnu-g\+\+: .*apt install g\+\+-aarch64-linux-gnu cmake/,
    ],
  ])("needs a compiler, and an error names the missing one and its package: %#", async (cross, complaint) => {
    const which = (name: string) => (name.endsWith("++") ? null : `/usr/bin/${name}`);
    await expect(findTools({ architecture: "riscv64", cross }, which)).rejects.toThrow(complaint);
  });

  test("of the CUDA backend needs a toolkit, and an error names it before anything is created", async () => {
    using directory = temporaryDirectory();
    const options = { cacheRoot: directory.path, log: () => {} };
    const nowhere = () => findCudaToolkit(() => null, [directory.path]);
    await expect(buildCuda(options, ["90"], nowhere)).rejects.toThrow(/without nvcc: install NVIDIA's CUDA toolkit/);
    expect(readdirSync(directory.path)).toEqual([]);
  });

  test("packages of Debian are refused on a system without apt", async () => {
    using directory = temporaryDirectory();
    const unpacked = unpackDebianPackages({ suite: "trixie", packages: ["glslc"] }, directory.path, () => null);
    await expect(unpacked).rejects.toThrow("this is not a Debian system: apt-get is missing");
    expect(readdirSync(directory.path)).toEqual([]);
  });

  test("the error of a failed tool contains its first error", async () => {
    const failing = ["sh", "-c", "echo 'x.cpp:1: error: no such thing'; seq 100; exit 3"];
    await expect(runTool(failing, () => {})).rejects.toThrow(/code 3:\nx.cpp:1: error: no such thing/);
  });
});
