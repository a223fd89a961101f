import { chmod, copyFile, link, lstat, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { digestFile } from "../../../src/program/index.ts";
import type { ImagePlan } from "./containerfile.ts";
import type { RootFiles } from "./root-files.ts";

/** A directory with its own mode and owner. */
export interface SpecialDirectory {
  readonly path: string;
  readonly mode: string;
  readonly owner: number;
}

/** Packs a tree with GNU tar, owned by root and without times, so that the same tree gives the same bytes. */
export async function packTree(
  archive: string,
  tree: string,
  special: readonly SpecialDirectory[] = [],
): Promise<void> {
  const same = ["--format=ustar", "--sort=name", "--mtime=@0", "--numeric-owner", `--directory=${tree}`];
  const excluded = special.map(({ path }) => `--exclude=./${path}`);
  const mode = "--mode=u=rwX,go=rX";
  await tar(["--create", `--file=${archive}`, ...same, mode, "--owner=0", "--group=0", ...excluded, "."]);
  for (const { path, mode, owner } of special) {
    const rights = [`--mode=${mode}`, `--owner=${owner}`, `--group=${owner}`, "--no-recursion"];
    await tar(["--append", `--file=${archive}`, ...same, ...rights, `./${path}`]);
  }
}

async function tar(args: readonly string[]): Promise<void> {
  const child = Bun.spawn(["tar", ...args], { stdin: "ignore", stdout: "ignore", stderr: "pipe" });
  const errors = await new Response(child.stderr).text();
  if ((await child.exited) !== 0) throw new Error(`tar failed: ${errors.trim()}`);
}

/** The user of deploy/Containerfile, who owns the data directory. */
const userId = 10001;
const dataDirectory = "var/lib/transcribe";

/** Files of the image that are written for it, by their paths. */
export const imageTexts: Readonly<Record<string, string>> = {
  "etc/passwd": `root:x:0:0:root:/root:/bin/false\ntranscribe:x:${userId}:${userId}::/${dataDirectory}:/bin/false\n`,
  "etc/group": `root:x:0:\ntranscribe:x:${userId}:\n`,
  "etc/nsswitch.conf": "hosts: files dns\n",
};

async function copyFiles(files: RootFiles, tree: string): Promise<void> {
  for (const [path, source] of files) {
    const target = join(tree, path);
    await mkdir(dirname(target), { recursive: true });
    await copyFile(source, target);
    await chmod(target, ((await lstat(source)).mode & 0o111) === 0 ? 0o644 : 0o755);
  }
}

/** Writes files as the archive of a layer: the same files always give the same bytes. */
export async function writeLayer(archive: string, files: RootFiles): Promise<void> {
  const tree = await mkdtemp(join(dirname(archive), "layer-"));
  try {
    await copyFiles(files, tree);
    await packTree(archive, tree);
  } finally {
    await rm(tree, { recursive: true, force: true });
  }
}

/** Writes the image's files as an archive: the same files always give the same bytes. */
export async function writeRootArchive(archive: string, files: RootFiles): Promise<void> {
  const tree = await mkdtemp(join(dirname(archive), "root-"));
  try {
    await copyFiles(files, tree);
    for (const [path, text] of Object.entries(imageTexts)) {
      await mkdir(dirname(join(tree, path)), { recursive: true });
      await writeFile(join(tree, path), text);
    }
    await mkdir(join(tree, "tmp"));
    await mkdir(join(tree, dataDirectory), { recursive: true });
    await packTree(archive, tree, [
      { path: "tmp", mode: "1777", owner: 0 },
      { path: dataDirectory, mode: "0700", owner: userId },
    ]);
  } finally {
    await rm(tree, { recursive: true, force: true });
  }
}

export interface ImageOptions {
  /** Paths of the archives of the layers, the lowest first. */
  readonly layers: readonly string[];
  readonly config: ImagePlan["config"];
  readonly architecture: "amd64" | "arm64";
  /** Name and tag, e.g. `transcribe:0.2.0`. */
  readonly reference: string;
}

const imageType = "application/vnd.oci.image";

/**
 * Writes an image as an archive of the OCI image layout (image-spec 1.0), with the manifest that Docker before version
 * 25 needs.
 * @returns the SHA-256 of each layer, the lowest first
 */
export async function writeImageArchive(archive: string, options: ImageOptions): Promise<string[]> {
  const { layers, config, architecture, reference } = options;
  const tree = await mkdtemp(join(dirname(archive), "image-"));
  try {
    const blobs = join(tree, "blobs/sha256");
    await mkdir(blobs, { recursive: true });
    const digests: string[] = [];
    const layerBlobs: Blob[] = [];
    for (const layer of layers) {
      const digest = await digestFile(layer, "sha256");
      digests.push(digest);
      await link(layer, join(blobs, digest));
      const size = Bun.file(layer).size;
      layerBlobs.push({ mediaType: `${imageType}.layer.v1.tar`, digest: `sha256:${digest}`, size });
    }
    const configBlob = await writeBlob(blobs, `${imageType}.config.v1+json`, {
      architecture,
      os: "linux",
      config,
      rootfs: { type: "layers", diff_ids: layerBlobs.map(({ digest }) => digest) },
    });
    const manifest = await writeBlob(blobs, `${imageType}.manifest.v1+json`, {
      schemaVersion: 2,
      mediaType: `${imageType}.manifest.v1+json`,
      config: configBlob,
      layers: layerBlobs,
    });
    const [name = "", tag = ""] = reference.split(":");
    const annotations = {
      "org.opencontainers.image.ref.name": tag,
      "io.containerd.image.name": `docker.io/library/${name}:${tag}`,
    };
    const path = ({ digest }: Blob) => `blobs/${digest.replace(":", "/")}`;
    await writeJson(join(tree, "oci-layout"), { imageLayoutVersion: "1.0.0" });
    await writeJson(join(tree, "index.json"), { schemaVersion: 2, manifests: [{ ...manifest, annotations }] });
    await writeJson(join(tree, "manifest.json"), [
      { Config: path(configBlob), RepoTags: [reference], Layers: layerBlobs.map(path) },
    ]);
    await packTree(archive, tree);
    return digests;
  } finally {
    await rm(tree, { recursive: true, force: true });
  }
}

interface Blob {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

async function writeBlob(directory: string, mediaType: string, content: unknown): Promise<Blob> {
  const text = JSON.stringify(content);
  const digest = new Bun.CryptoHasher("sha256").update(text).digest("hex");
  await writeFile(join(directory, digest), text);
  return { mediaType, digest: `sha256:${digest}`, size: Buffer.byteLength(text) };
}

async function writeJson(path: string, content: unknown): Promise<void> {
  await writeFile(path, JSON.stringify(content));
}
