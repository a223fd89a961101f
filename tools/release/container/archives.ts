import { chmod, copyFile, link, lstat, mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { digestFile } from "../../../src/program/index.ts";
import { packNewTree } from "../../shared/pack-tree.ts";
import type { ImagePlan } from "./containerfile.ts";
import type { RootFiles } from "./image-files.ts";

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
  await packNewTree(archive, (tree) => copyFiles(files, tree));
}

/** Writes the image's files as an archive: the same files always give the same bytes. */
export async function writeRootArchive(archive: string, files: RootFiles): Promise<void> {
  const fill = async (tree: string) => {
    await copyFiles(files, tree);
    for (const [path, text] of Object.entries(imageTexts)) await Bun.write(join(tree, path), text);
    for (const path of ["tmp", dataDirectory]) await mkdir(join(tree, path), { recursive: true });
  };
  await packNewTree(archive, fill, [
    { path: "tmp", mode: "1777", owner: 0 },
    { path: dataDirectory, mode: "0700", owner: userId },
  ]);
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

/** A blob of the image layout, as manifests name it. */
interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

/**
 * Writes an image as an archive of the OCI image layout (image-spec 1.0), with the manifest that Docker before version
 * 25 needs.
 * @returns the SHA-256 of each layer, the lowest first
 */
export async function writeImageArchive(
  archive: string,
  { layers, config, architecture, reference }: ImageOptions,
): Promise<string[]> {
  const digests = await Promise.all(layers.map((layer) => digestFile(layer, "sha256")));
  await packNewTree(archive, async (tree) => {
    const blobs = join(tree, "blobs/sha256");
    await mkdir(blobs, { recursive: true });
    for (const [index, layer] of layers.entries()) await link(layer, join(blobs, digests[index] ?? ""));
    const layerBlobs = layers.map((layer, index): Descriptor => {
      const digest = `sha256:${digests[index]}`;
      return { mediaType: `${imageType}.layer.v1.tar`, digest, size: Bun.file(layer).size };
    });
    const rootfs = { type: "layers", diff_ids: layerBlobs.map(({ digest }) => digest) };
    const configType = `${imageType}.config.v1+json`;
    const configBlob = await writeBlob(blobs, configType, { architecture, os: "linux", config, rootfs });
    const mediaType = `${imageType}.manifest.v1+json`;
    const content = { schemaVersion: 2, mediaType, config: configBlob, layers: layerBlobs };
    const manifest = await writeBlob(blobs, mediaType, content);
    const annotations = {
      "org.opencontainers.image.ref.name": reference.split(":")[1],
      "io.containerd.image.name": `docker.io/library/${reference}`,
    };
    const path = ({ digest }: Descriptor) => `blobs/${digest.replace(":", "/")}`;
    const files = {
      "oci-layout": { imageLayoutVersion: "1.0.0" },
      "index.json": { schemaVersion: 2, manifests: [{ ...manifest, annotations }] },
      "manifest.json": [{ Config: path(configBlob), RepoTags: [reference], Layers: layerBlobs.map(path) }],
    };
    for (const [name, value] of Object.entries(files)) await writeFile(join(tree, name), JSON.stringify(value));
  });
  return digests;
}

async function writeBlob(directory: string, mediaType: string, content: unknown): Promise<Descriptor> {
  const text = JSON.stringify(content);
  const digest = new Bun.CryptoHasher("sha256").update(text).digest("hex");
  await writeFile(join(directory, digest), text);
  return { mediaType, digest: `sha256:${digest}`, size: Buffer.byteLength(text) };
}
