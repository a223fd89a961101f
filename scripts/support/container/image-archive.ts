import { link, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { digestFile } from "../../../src/program/index.ts";
import type { ImagePlan } from "./containerfile.ts";
import { packTree } from "./pack-tree.ts";

export interface ImageOptions {
  /** Archive of the only layer. */
  readonly layer: string;
  readonly config: ImagePlan["config"];
  readonly architecture: "amd64" | "arm64";
  /** Name and tag, e.g. `transcribe:0.2.0`. */
  readonly reference: string;
}

const imageType = "application/vnd.oci.image";

/**
 * Writes an image as an archive of the OCI image layout (image-spec 1.0), with the file beside it by which Docker before
 * version 25 finds its way.
 */
export async function writeImageArchive(archive: string, options: ImageOptions): Promise<void> {
  const { layer, config, architecture, reference } = options;
  const tree = await mkdtemp(join(dirname(archive), "image-"));
  try {
    const blobs = join(tree, "blobs/sha256");
    await mkdir(blobs, { recursive: true });
    const layerDigest = await digestFile(layer, "sha256");
    await link(layer, join(blobs, layerDigest));
    const layerBlob = {
      mediaType: `${imageType}.layer.v1.tar`,
      digest: `sha256:${layerDigest}`,
      size: Bun.file(layer).size,
    };
    const configBlob = await writeBlob(blobs, `${imageType}.config.v1+json`, {
      architecture,
      os: "linux",
      config,
      rootfs: { type: "layers", diff_ids: [layerBlob.digest] },
    });
    const manifest = await writeBlob(blobs, `${imageType}.manifest.v1+json`, {
      schemaVersion: 2,
      mediaType: `${imageType}.manifest.v1+json`,
      config: configBlob,
      layers: [layerBlob],
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
      { Config: path(configBlob), RepoTags: [reference], Layers: [path(layerBlob)] },
    ]);
    await packTree(archive, tree);
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
