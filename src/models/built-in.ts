import { builtInModels, type ProgramFiles } from "../program/index.ts";
import type { ModelEntry } from "./catalogue.ts";

/** Id of the speech model that ships with the program. */
export const builtInSpeechModel: string = builtInModels.speech.id;

/** Returns the path of a built-in model, or null if the model is not built in. */
export function builtInPath(
  { builtIn, kind }: Pick<ModelEntry, "builtIn" | "kind">,
  files: Pick<ProgramFiles, "speechModel" | "segmentationModel" | "embeddingModel">,
): string | null {
  if (builtIn === undefined) return null;
  if (kind === "speech") return files.speechModel;
  return kind === "segmentation" ? files.segmentationModel : files.embeddingModel;
}
