import { builtInModels, type ProgramFiles } from "../program/index.ts";
import type { ModelEntry } from "./catalogue.ts";

/** The speech model that comes with the program. */
export const builtInSpeechModel: string = builtInModels.speech.id;

/** Where a model lies that comes with the program; null: it does not. */
export function builtInPath(
  { builtIn, kind }: Pick<ModelEntry, "builtIn" | "kind">,
  files: Pick<ProgramFiles, "whisperModel" | "segmentationModel" | "embeddingModel">,
): string | null {
  if (builtIn === undefined) return null;
  if (kind === "speech") return files.whisperModel;
  return kind === "segmentation" ? files.segmentationModel : files.embeddingModel;
}
