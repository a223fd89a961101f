// The part of scripts/build-container that needs Bun: collects and packs the files, and writes the image.
import { readFileSync } from "node:fs";
import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { defaultCacheRoot } from "../../../native/build.ts";
import { digestFile, programVersion } from "../../../src/program/index.ts";
import { messageOf } from "../../../src/text/index.ts";
import { partSources } from "../build/parts.ts";
import { root } from "../checkout.ts";
import { imageSbom, readSbom } from "../sbom/image-sbom.ts";
import { writeImageArchive, writeRootArchive } from "./archives.ts";
import { readContainerfile } from "./containerfile.ts";
import { distributionOf, systemFiles, systemPackages } from "./root-files.ts";
import { vulkanLoader } from "./vulkan-loader.ts";

const name = `transcribe-${process.platform}-${process.arch}`;
const dist = join(root, "dist");
const program = join(dist, name);
const { archive, config } = readContainerfile(readFileSync(join(root, "deploy/Containerfile"), "utf8"));

const native = (await partSources(process.arch)).filter(({ executable }) => executable).map(({ source }) => source);
const loader = await vulkanLoader(native, defaultCacheRoot()).catch((error: unknown) => {
  console.log(`build-container: WITHOUT the Vulkan loader, so the image uses no GPU by Vulkan: ${messageOf(error)}`);
  return null;
});
const unpacked = loader === null ? [] : [loader];
const files = new Map([...(await systemFiles([program, ...native], unpacked)), ["usr/local/bin/transcribe", program]]);
const layer = join(dist, archive);
await writeRootArchive(layer, files);

const image = join(dist, `${name}.oci.tar`);
const architecture = process.arch === "arm64" ? "arm64" : "amd64";
await writeImageArchive(image, { layer, config, architecture, reference: `transcribe:${programVersion}` });
const materials = `${name}.oci.cdx.json`;
const distribution = distributionOf(readFileSync("/etc/os-release", "utf8"));
const programMaterials = await readSbom(join(dist, `${name}.cdx.json`));
await Bun.write(
  join(dist, materials),
  imageSbom(programMaterials, await digestFile(layer, "sha256"), await systemPackages(files, unpacked), distribution),
);
for (const file of [`${name}.oci.tar`, materials]) {
  await appendFile(join(dist, "SHA256SUMS"), `${await digestFile(join(dist, file), "sha256")}  ${file}\n`);
}
console.log(
  `build-container: ${files.size} files; dist/${archive} and dist/${name}.oci.tar, ${(Bun.file(image).size / 1e6).toFixed(0)} MB`,
);
