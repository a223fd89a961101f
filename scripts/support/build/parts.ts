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

/**
 * Everything that the program carries beside code, ordered by path.
 * @param cacheRoot where setup keeps what it fetched
 * @param files the parts; this machine's by default
 * @throws Error where the checkout uses the system's ffmpeg, which needs the system's libraries
 */
export async function partSources(cacheRoot: string, files?: ProgramFiles): Promise<PartSource[]> {
  const { nativeDirectory: native, onnxBinding: onnx, ...single } = files ?? (await programFiles(""));
  if (!realpathSync(single.ffmpeg).startsWith(join(realpathSync(cacheRoot), "ffmpeg"))) {
    throw new Error(
      "the program can't carry the system's ffmpeg: run scripts/setup where it can fetch the static build",
    );
  }
  const { nativeDirectory, onnxBinding } = unpackedLayout;
  const names = ["ffmpeg", "whisperModel", "segmentationModel", "embeddingModel", "benchRecording"] as const;
  const parts = [
    ...directoryParts(native, nativeDirectory),
    ...directoryParts(dirname(onnx), dirname(onnxBinding)),
    ...names.map((name) => part(single[name], unpackedLayout[name])),
  ];
  return parts.sort((a, b) => (a.path < b.path ? -1 : 1));
}

function directoryParts(source: string, target: string): PartSource[] {
  return readdirSync(source).map((name) => part(join(source, name), join(target, name)));
}

function part(source: string, path: string): PartSource {
  return { path, source: realpathSync(source), executable: /^ffmpeg$|\.(node|so)(\.\d+)*$/.test(basename(path)) };
}
