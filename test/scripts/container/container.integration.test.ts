import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../../harness/checkout.ts";
import { temporaryDirectory } from "../../../harness/temporary-directory.ts";
import { defaultCacheRoot } from "../../../native/build.ts";
import { thisMachine } from "../../../src/install/index.ts";
import { messageOf } from "../../../src/text/index.ts";
import { writeImageArchive, writeLayer, writeRootArchive } from "../../../tools/release/container/archives.ts";
import { readContainerfile } from "../../../tools/release/container/containerfile.ts";
import { cudaFiles, systemFiles } from "../../../tools/release/container/image-files.ts";
import { vulkanLoader } from "../../../tools/release/container/vulkan-loader.ts";

setDefaultTimeout(60_000);

const directory = temporaryDirectory();
afterAll(() => directory[Symbol.dispose]());
const containerfile = readFileSync(join(root, "deploy/Containerfile"), "utf8");
const cudaContainerfile = readFileSync(join(root, "deploy/Containerfile.cuda"), "utf8");

/** Returns GNU tar's long listing: mode, owner, size, date, time, name. */
function listing(archive: string): string[][] {
  const { exitCode, stdout, stderr } = thisMachine.run([
    "tar",
    "--list",
    "--verbose",
    "--numeric-owner",
    "--file",
    archive,
  ]);
  if (exitCode !== 0) throw new Error(stderr);
  return stdout
    .trim()
    .split("\n")
    .map((line) => line.split(/\s+/));
}

describe("the Containerfile", () => {
  test("describes an image with a user of its own, its data in a volume, and one program", () => {
    expect(readContainerfile(containerfile)).toEqual({
      archives: ["transcribe-linux-x64.root.tar"],
      config: {
        Labels: {
          "org.opencontainers.image.title": "Transcribe",
          "org.opencontainers.image.licenses": expect.stringContaining("LGPL-2.1-or-later AND"),
        },
        Env: [
          "PATH=/usr/local/bin:/usr/bin:/bin",
          "TRANSCRIBE_HOST=0.0.0.0",
          "TRANSCRIBE_DATA_DIR=/var/lib/transcribe",
        ],
        User: "10001:10001",
        WorkingDir: "/var/lib/transcribe",
        Volumes: { "/var/lib/transcribe": {} },
        ExposedPorts: { "8787/tcp": {} },
        StopSignal: "SIGTERM",
        Healthcheck: {
          Test: ["CMD", "/usr/local/bin/transcribe", "service", "status"],
          Interval: 30e9,
          Timeout: 10e9,
          StartPeriod: 60e9,
        },
        Entrypoint: ["/usr/local/bin/transcribe"],
        Cmd: ["serve"],
      },
    });
  });

  test("with CUDA adds a layer, names the backend's library, and keeps the rest", () => {
    const base = readContainerfile(containerfile);
    const { archives, config } = readContainerfile(cudaContainerfile, base);
    expect(archives).toEqual(["transcribe-linux-x64.root.tar", "transcribe-linux-x64.cuda.tar"]);
    const backend = join(directory.path, "libggml-cuda.so");
    const cublas = [join(directory.path, "libcublas.so.13")];
    const files = cudaFiles({ library: backend, cublas, cublasVersion: "13.1", licence: join(root, "LICENSE") });
    const named = (config.Env as string[]).find((line) => line.startsWith("TRANSCRIBE_ENGINE_CUDA_LIBRARY="));
    expect(files.get(named?.split("=/")[1] ?? "")).toBe(backend);
    const { Env: own, Labels: ownLabels, ...rest } = config;
    const { Env: before, Labels: labels, ...restBefore } = base.config;
    expect(own).toEqual(expect.arrayContaining(before as string[]));
    expect(rest).toEqual(restBefore);
    const licences = Object.values(labels as Record<string, string>).find((text) => text.includes(" AND "));
    expect(Object.values(ownLabels as object)).toContain(`${licences} AND LicenseRef-NVIDIA-CUDA`);
    expect(() => readContainerfile(cudaContainerfile)).toThrow("FROM transcribe");
  });

  for (const line of ["FROM debian:12", "RUN apt-get update", "ADD other.tar /", "COPY a b", "CMD serve", "EXPOSE"]) {
    test(`is refused with ${line}`, () => expect(() => readContainerfile(`${containerfile}${line}\n`)).toThrow());
  }
});

const onDebian =
  thisMachine.run(["dpkg-query", "--version"]).exitCode === 0 && thisMachine.run(["tar", "--version"]).exitCode === 0;
if (!onDebian) console.warn("SKIPPED: the container's tree, it is made of Debian's packages and there are none here");

describe.skipIf(!onDebian)("the image", () => {
  const program = join(directory.path, "program");
  writeFileSync(program, "a program", { mode: 0o700 });
  const layer = join(directory.path, "layer.tar");

  test("contains a shell, all libraries of its programs, and their licences", async () => {
    const files = await systemFiles(["/usr/bin/tar"]);
    const paths = [...files.keys()];
    expect(paths).toContain("bin/sh");
    expect(paths.filter((path) => /\/lib(?:c\.so\.6|acl\.so\.1)$/.test(path))).toHaveLength(2);
    expect(paths.filter((path) => /ld-linux/.test(path))).toHaveLength(1);
    expect(paths.filter((path) => /^usr\/share\/doc\/(?:dash|libc6)\/copyright$/.test(path))).toHaveLength(2);
  });

  test("contains the Vulkan loader with its licence also when the cache is behind a link", async () => {
    const cache = join(directory.path, "cache");
    symlinkSync(defaultCacheRoot(), cache);
    const backend = join(root, "build/native/libggml-vulkan.so");
    const loader = await vulkanLoader([backend], cache).catch((error: unknown) => messageOf(error));
    if (loader === null || typeof loader === "string") {
      console.warn(`SKIPPED: the Vulkan loader in a cache behind a link; ${loader ?? "it is installed"}`);
      return;
    }
    const paths = [...(await systemFiles([backend], loader)).keys()];
    expect(paths.filter((path) => path.endsWith("/libvulkan.so.1"))).toHaveLength(1);
    expect(paths).toContain("usr/share/doc/libvulkan1/copyright");
  });

  test("is owned by root except for the data, and is reproducible", async () => {
    const files = new Map([
      ["usr/local/bin/transcribe", program],
      ["usr/share/doc/x/copyright", join(root, "README.md")],
    ]);
    await writeRootArchive(layer, files);
    const listed = listing(layer).map(([rights = "", owner = "", ...rest]) => [rest.at(-1), rights, owner]);
    expect(listed).toEqual(
      expect.arrayContaining([
        ["./usr/local/bin/transcribe", "-rwxr-xr-x", "0/0"],
        ["./usr/share/doc/x/copyright", "-rw-r--r--", "0/0"],
        ["./tmp/", "drwxrwxrwt", "0/0"],
        ["./var/lib/transcribe/", "drwx------", "10001/10001"],
      ]),
    );
    expect(new Set(listed.map(([path]) => path)).size).toBe(listed.length);
    const again = join(directory.path, "again.tar");
    await writeRootArchive(again, files);
    expect(readFileSync(again).equals(readFileSync(layer))).toBe(true);
  });

  const hasSkopeo = thisMachine.run(["skopeo", "--version"]).exitCode === 0;
  if (!hasSkopeo) console.warn("SKIPPED: another program's reading of the image, there is no skopeo here");

  test("names each blob by its digest, for readers of OCI layouts and of Docker's archives", async () => {
    const archive = join(directory.path, "image.tar");
    const second = join(directory.path, "second.tar");
    await writeLayer(second, new Map([["usr/local/lib/library.so", program]]));
    expect(listing(second).map((columns) => columns.at(-1))).toContain("./usr/local/lib/library.so");
    const { config } = readContainerfile(containerfile);
    const layers = [layer, second];
    await writeImageArchive(archive, { layers, config, architecture: "amd64", reference: "transcribe:0.0.1" });
    const unpacked = join(directory.path, "image");
    mkdirSync(unpacked);
    expect(thisMachine.run(["tar", "--extract", "--file", archive, "--directory", unpacked]).exitCode).toBe(0);
    const blobs = listing(archive)
      .map((columns) => columns.at(-1) ?? "")
      .filter((path) => /\/[0-9a-f]{64}$/.test(path));
    expect(blobs).toHaveLength(4);
    const manifest: unknown = JSON.parse(readFileSync(join(unpacked, "manifest.json"), "utf8"));
    const digests = layers.map((path) => new Bun.CryptoHasher("sha256").update(readFileSync(path)).digest("hex"));
    expect(manifest).toMatchObject([{ Layers: digests.map((digest) => `blobs/sha256/${digest}`) }]);
    for (const blob of blobs) {
      const bytes = readFileSync(join(unpacked, blob));
      expect(blob).toEndWith(new Bun.CryptoHasher("sha256").update(bytes).digest("hex"));
    }
    if (!hasSkopeo) return;
    for (const transport of ["oci-archive", "docker-archive"]) {
      const read = thisMachine.run([
        "skopeo",
        "--tmpdir",
        directory.path,
        "inspect",
        "--config",
        `${transport}:${archive}`,
      ]);
      expect([read.exitCode, read.stderr]).toEqual([0, ""]);
      expect(JSON.parse(read.stdout)).toMatchObject({ architecture: "amd64", config: { User: "10001:10001" } });
    }
  });
});
