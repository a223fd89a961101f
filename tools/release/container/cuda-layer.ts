import { basename, join } from "node:path";
import type { CudaBackend } from "../../../native/build-cuda.ts";
import { digestFile, programVersion } from "../../../src/program/index.ts";
import type { Component } from "../../build/sbom/document.ts";
import { licensed, licensedAs } from "../../build/sbom/licences.ts";
import type { RootFiles } from "./root-files.ts";

/** The folder that deploy/Containerfile.cuda names in `engine.cuda_library`. */
const folder = "usr/local/lib/transcribe-cuda";
const notice = "usr/share/doc/nvidia-cublas/copyright";

/** Returns the files that an image with CUDA has besides those of the image without it. */
export function cudaFiles({ library, cublas, licence }: CudaBackend): RootFiles {
  return new Map([
    ...[library, ...cublas].map((path) => [join(folder, basename(path)), path] as const),
    [notice, licence],
  ]);
}

/** Returns the parts of that layer for its bill of materials. */
export async function cudaComponents({ library, cublas, cublasVersion }: CudaBackend): Promise<Component[]> {
  const parts = cublas.map(async (path): Promise<Component> => {
    return {
      type: "library",
      "bom-ref": basename(path),
      name: basename(path),
      version: cublasVersion,
      hashes: [{ alg: "SHA-256", content: await digestFile(path, "sha256") }],
      licenses: licensedAs(`NVIDIA's CUDA licence, see /${notice} in the image`),
    };
  });
  const backend: Component = {
    type: "library",
    "bom-ref": basename(library),
    name: basename(library),
    version: programVersion,
    hashes: [{ alg: "SHA-256", content: await digestFile(library, "sha256") }],
    licenses: licensed("MIT"),
  };
  return [backend, ...(await Promise.all(parts))];
}
