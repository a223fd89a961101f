import { readdirSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { type ProgramFiles, programFiles, unpackedLayout } from "../../../src/program/index.ts";

/** A file of the checkout that the program carries and unpacks. */
export interface PartSource {
  /** Where it belongs once unpacked. */
  readonly path: string;
  readonly source: string;
  readonly executable: boolean;
}

/** Everything that the program carries beside code, ordered by path. */
export async function partSources(): Promise<PartSource[]> {
  const files = await programFiles("");
  const { nativeDirectory, onnxBinding } = unpackedLayout;
  const single: (keyof ProgramFiles)[] = [
    ...(["ffmpeg", "whisperModel", "segmentationModel", "embeddingModel", "benchRecording"] as const),
  ];
  const parts = [
    ...directoryParts(files.nativeDirectory, nativeDirectory),
    ...directoryParts(dirname(files.onnxBinding), dirname(onnxBinding)),
    ...single.map((name) => part(files[name], unpackedLayout[name])),
  ];
  return parts.sort((a, b) => (a.path < b.path ? -1 : 1));
}

function directoryParts(source: string, target: string): PartSource[] {
  return readdirSync(source).map((name) => part(join(source, name), join(target, name)));
}

function part(source: string, path: string): PartSource {
  return { path, source: realpathSync(source), executable: /^ffmpeg$|\.(node|so)(\.\d+)*$/.test(basename(path)) };
}
