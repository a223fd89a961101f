import { basename } from "node:path";
import type { ProgramFiles } from "../program/index.ts";
import type { ModelEntry } from "./catalogue.ts";

/** Where a model lies that comes with the program; null: it does not. */
export function builtInPath(
  { file }: Pick<ModelEntry, "file">,
  files: Pick<ProgramFiles, "whisperModel" | "segmentationModel" | "embeddingModel">,
): string | null {
  const paths = [files.whisperModel, files.segmentationModel, files.embeddingModel];
  return paths.find((path) => basename(path) === file) ?? null;
}
