import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { appendFileSync, chmodSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { available, root } from "../../harness/checkout.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { cublasFor, fetchCublas } from "../../native/steps/cublas.ts";
import { type CudaToolkit, findCudaToolkit } from "../../native/steps/cuda-toolkit.ts";
import { backendPatches, prepareBackendSource, prepareSource } from "../../native/steps/source.ts";

setDefaultTimeout(60_000);

const requirements = join(root, "native", "cuda");

/** Writes a fake nvcc that prints a version, and preprocesses headers with a given command. */
function nvccAt(path: string, printed: string, preprocessed = "exit 1"): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `#!/bin/sh\nif [ "$1" = --version ]; then echo '${printed}'; else ${preprocessed}; fi\n`);
  chmodSync(path, 0o755);
  return path;
}
const release = (version: string) => `Cuda compilation tools, release ${version}, V${version}.88`;

const canConfigure = available("the identity of ggml", ...["cmake", "c++"].map((tool) => Bun.which(tool) ?? tool));

describe.skipIf(!canConfigure)("the identity of a ggml", () => {
  test("is the same for the program and the CUDA backend, and changes with a header", async () => {
    using directory = temporaryDirectory();
    const nativeDirectory = join(root, "native");
    const identityOf = (ggml: string) => {
      const project = join(directory.path, "project");
      mkdirSync(project, { recursive: true });
      const commands = [
        "cmake_minimum_required(VERSION 3.18)\nproject(identity LANGUAGES NONE)",
        `include("${join(nativeDirectory, "ggml-identity.cmake")}")`,
        `ggml_identity("${ggml}" identity)\nfile(WRITE "${project}/said" "\${identity}")`,
      ];
      writeFileSync(join(project, "CMakeLists.txt"), commands.join("\n"));
      expect(Bun.spawnSync(["cmake", "-S", project, "-B", join(project, "out")]).exitCode).toBe(0);
      return readFileSync(join(project, "said"), "utf8");
    };
    const program = await prepareSource({ repository: root, nativeDirectory, into: join(directory.path, "program") });
    const cuda = await prepareBackendSource({
      ...{ repository: root, nativeDirectory, backend: "ggml-cuda" },
      ...{ patches: await backendPatches(nativeDirectory, "cuda"), into: join(directory.path, "cuda") },
    });
    const identity = identityOf(cuda);
    expect(identity).toMatch(/^[0-9a-f]{64}$/);
    expect(identityOf(join(program, "ggml"))).toBe(identity);
    appendFileSync(join(cuda, "src", "ggml-backend-impl.h"), "// another\n");
    expect(identityOf(cuda)).not.toBe(identity);
  });
});

describe("the CUDA toolkit", () => {
  test("is the one on PATH, else the one that the system links to, else the newest", async () => {
    using directory = temporaryDirectory();
    const other = join(directory.path, "opt");
    const usr = join(directory.path, "local");
    const find = async (which: string | null = null) => (await findCudaToolkit(() => which, [usr, other])).nvcc;
    const onPath = nvccAt(join(directory.path, "nvcc"), release("13.0"));
    await expect(find()).rejects.toThrow("cannot build the CUDA backend without nvcc: install");

    const elsewhere = nvccAt(join(other, "cuda", "bin", "nvcc"), release("13.0"));
    expect(await find()).toBe(elsewhere);
    nvccAt(join(usr, "cuda-12.9", "bin", "nvcc"), release("12.9"));
    const newest = nvccAt(join(usr, "cuda-13.10", "bin", "nvcc"), release("13.10"));
    nvccAt(join(usr, "cuda-13.9", "bin", "nvcc"), release("13.9"));
    mkdirSync(join(usr, "cuda-14.0"));
    expect(await find()).toBe(newest);
    symlinkSync("cuda-12.9", join(usr, "cuda"));
    expect(await find()).toBe(join(usr, "cuda", "bin", "nvcc"));
    expect(await find(onPath)).toBe(onPath);
  });

  test.each([
    [release("12.8"), { major: 12, minor: 8 }],
    [release("13.2"), { major: 13, minor: 2 }],
    [release("12.4"), /is of CUDA 12\.4, too old for the CUDA backend: install NVIDIA's CUDA toolkit, 12\.8 or later/],
    [release("11.8"), /is of CUDA 11\.8, too old/],
    ["clang", /does not print its version/],
  ])("whose nvcc prints %j is accepted or refused by its version", async (printed, expected) => {
    using directory = temporaryDirectory();
    const nvcc = nvccAt(join(directory.path, "nvcc"), printed);
    const found = findCudaToolkit(() => nvcc);
    if (expected instanceof RegExp) await expect(found).rejects.toThrow(expected);
    else expect((await found).version).toEqual(expected);
  });
});

describe("cuBLAS", () => {
  const toolkit = (nvcc: string, major: number, minor: number): CudaToolkit => ({
    ...{ nvcc, version: { major, minor }, description: "" },
  });

  test("is that of the toolkit if it has one", async () => {
    using directory = temporaryDirectory();
    const preprocessed = `case "$1 $2" in "-E "*.cu) echo '# 1 "probe.cu"'; echo "cublas 13 0 2";; esac`;
    const nvcc = nvccAt(join(directory.path, "nvcc"), "", preprocessed);
    expect(await cublasFor(toolkit(nvcc, 13, 0), requirements)).toEqual({ key: "cublas 13 0 2", pinned: null });
  });

  test.each<[number, number, string | RegExp]>([
    [12, 8, "nvidia-cublas-cu12==12.8."],
    [12, 9, "nvidia-cublas-cu12==12.9."],
    [13, 0, "nvidia-cublas==13.1.0."],
    // A newer toolkit works with the library of an older one of the same CUDA version.
    [13, 4, "nvidia-cublas==13.1.0."],
    [14, 0, /toolkit 14\.0 comes without cuBLAS, .*: install its development files \(.* libcublas-dev-14-0\)/],
  ])("for a toolkit %d.%d without it is a pinned package of the same CUDA version", async (major, minor, expected) => {
    using directory = temporaryDirectory();
    const cublas = cublasFor(toolkit(nvccAt(join(directory.path, "nvcc"), ""), major, minor), requirements);
    if (expected instanceof RegExp) await expect(cublas).rejects.toThrow(expected);
    else expect((await cublas).pinned?.requirements).toContain(expected);
  });

  test("is pinned with a checksum for each architecture, in files named by the toolkit", () => {
    const names = readdirSync(requirements).filter((name) => name.startsWith("cublas"));
    expect(names.sort()).toEqual(["cublas-12.8.txt", "cublas-12.9.txt", "cublas-13.0.txt"]);
    for (const name of names) {
      const text = readFileSync(join(requirements, name), "utf8");
      expect(text.match(/--hash=sha256:[0-9a-f]{64}\b/g)).toHaveLength(2);
    }
  });

  test("that pip can't download is refused with an alternative, and leaves nothing", async () => {
    using directory = temporaryDirectory();
    const cache = join(directory.path, "cache");
    const pinned = {
      cuda: { major: 13, minor: 0 },
      requirements: `x @ file://${join(directory.path, "x-1-py3-none-any.whl")}\n`,
    };
    await expect(fetchCublas(pinned, cache, () => {})).rejects.toThrow(
      /^cannot fetch cuBLAS with python3 and its pip; install its development files \(NVIDIA's package libcublas-dev-13-0\)\. /,
    );
    expect(readdirSync(join(cache, "cublas"))).toEqual([]);
  });
});
