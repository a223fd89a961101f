import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { programVersion } from "../../../src/program/index.ts";
import { root } from "../../shared/checkout.ts";
import { packTree } from "../../shared/pack-tree.ts";

/**
 * Packs the Helm chart into a folder, as Helm names and lays it out; the same chart gives the same bytes.
 * @returns the path of the file
 */
export async function packChart(folder: string): Promise<string> {
  const archive = join(folder, `transcribe-${programVersion}.tar`);
  await packTree(archive, join(root, "deploy/helm"), [], "transcribe");
  const path = archive.replace(/tar$/, "tgz");
  await Bun.write(path, Bun.gzipSync(readFileSync(archive), { level: 9 }));
  rmSync(archive);
  return path;
}
