// The part of scripts/build-container that needs Bun: collects and packs the files, and writes the images and the Helm chart.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { defaultCacheRoot } from "../../../native/build.ts";
import { buildCuda } from "../../../native/build-cuda.ts";
import { programVersion } from "../../../src/program/index.ts";
import { messageOf } from "../../../src/text/index.ts";
import { partSources } from "../../build/parts.ts";
import { extractInner } from "../../build/program-file.ts";
import type { Component } from "../../build/sbom/document.ts";
import { imageSbom, readSbom } from "../../build/sbom/image-sbom.ts";
import { targetOf } from "../../build/target.ts";
import { root } from "../../shared/checkout.ts";
import { addChecksum } from "../../shared/checksums.ts";
import { writeImageArchive, writeLayer, writeRootArchive } from "./archives.ts";
import { packChart } from "./chart.ts";
import { type ImagePlan, readContainerfile } from "./containerfile.ts";
import { cudaComponents, cudaFiles, distributionOf, innerPath, systemFiles, systemPackages } from "./image-files.ts";
import { vulkanLoader } from "./vulkan-loader.ts";

const { cuda, architecture } = targetOf(process.argv.slice(2));
if (architecture !== process.arch) throw new Error("an image is built on a machine of its own architecture");
const name = `transcribe-${process.platform}-${process.arch}`;
const dist = join(root, "dist");
const program = join(dist, name);
const cacheRoot = defaultCacheRoot();
const containerfile = (file: string) => readFileSync(join(root, "deploy", file), "utf8");

const native = (await partSources(process.arch)).filter(({ executable }) => executable).map(({ source }) => source);
const loader = await vulkanLoader(native, cacheRoot).catch((error: unknown) => {
  console.log(`build-container: WITHOUT the Vulkan loader, so the image uses no GPU by Vulkan: ${messageOf(error)}`);
  return null;
});
const folder = mkdtempSync(join(dist, ".inner-"));
const inner = join(folder, "transcribe");
const innerFile = innerPath(await extractInner(program, inner));
const files = new Map([
  ...(await systemFiles([inner, ...native], loader)),
  ["usr/local/bin/transcribe", program],
  // Unpacked already, so that a container with a read-only root does not start it from memory.
  [innerFile, inner],
]);
const packages = await systemPackages(files, loader);
const distribution = distributionOf(readFileSync("/etc/os-release", "utf8"));
const programMaterials = await readSbom(join(dist, `${name}.cdx.json`));

const plan = readContainerfile(containerfile("Containerfile"));
await writeRootArchive(join(dist, plan.archives[0] ?? ""), files);
rmSync(folder, { recursive: true });
await writeImage(name, plan, programVersion, []);

if (cuda.length > 0) {
  const backend = await buildCuda({ cacheRoot, log: console.log }, cuda);
  const withCuda = readContainerfile(containerfile("Containerfile.cuda"), plan);
  await writeLayer(join(dist, withCuda.archives[1] ?? ""), cudaFiles(backend));
  await writeImage(`${name}.cuda`, withCuda, `${programVersion}-cuda`, await cudaComponents(backend));
}

await addChecksum(dist, "build-container", basename(await packChart(dist)));

/** Writes an image and its bill of materials, with their checksums. */
async function writeImage(image: string, { archives, config }: ImagePlan, tag: string, more: Component[]) {
  const layers = archives.map((archive) => join(dist, archive));
  const file = `${image}.oci.tar`;
  const reference = `transcribe:${tag}`;
  const options = { layers, config, architecture: architecture === "arm64" ? "arm64" : "amd64", reference } as const;
  const highest = (await writeImageArchive(join(dist, file), options)).at(-1) ?? "";
  const materials = `${image}.oci.cdx.json`;
  await Bun.write(join(dist, materials), imageSbom(programMaterials, highest, packages, distribution, more));
  for (const each of [file, materials]) await addChecksum(dist, "build-container", each);
}
