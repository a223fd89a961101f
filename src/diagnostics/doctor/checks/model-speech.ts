import { existsSync } from "node:fs";
import { findModel, ModelLibrary, productCatalogue, verifyBuiltIn, verifyInstalled } from "../../../models/index.ts";
import { readModelLanguages, validateModelFile } from "../../../speech/index.ts";
import { count, messageOf } from "../../../text/index.ts";
import { type Check, type CheckContext, type Finding, ok, problem } from "../check.ts";
import { filesOf } from "../files-of.ts";

export const modelSpeech: Check = {
  id: "model.whisper",
  title: "Speech model",
  explanation:
    "The speech model of new recordings: whether its file exists, has the right form, and equals the published or installed file byte for byte.",
  heavy: true,
  async run(context): Promise<Finding> {
    if (context.speechModel === null) throw filesOf(context);
    const { id, path } = context.speechModel;
    const advice =
      "Choose another (transcribe models list, transcribe models use ID) or get this one anew (transcribe models pull ID; without a network, transcribe models import FILE).";
    if (!existsSync(path)) {
      return problem(`${id} is not there, so nothing can be transcribed`, {
        detail: [`there is no file ${path}`],
        advice,
      });
    }
    let languages: string;
    try {
      validateModelFile(path);
      languages = count(readModelLanguages(path).length, "language");
    } catch (error) {
      return problem(`${id} can't be used, so nothing can be transcribed`, { detail: [messageOf(error)], advice });
    }
    const damage = await damageOf(context, id, path);
    if (damage === undefined) return ok(`${id}, ${languages}; there is no checksum to compare it with`, path);
    if (damage === null) return ok(`${id}, ${languages}, checksum right`, path);
    return problem(`${id} is not what it should be`, { detail: [path, damage], advice });
  },
};

/** Returns the damage of a model file; null if it is intact, undefined if there is no checksum to compare it with. */
async function damageOf({ paths }: CheckContext, id: string, path: string): Promise<string | null | undefined> {
  const catalogue = productCatalogue();
  const installed = new ModelLibrary(paths.models).find(id);
  if (installed?.path === path) return await verifyInstalled(installed, catalogue, () => {});
  const entry = findModel(catalogue, id);
  return entry === null ? undefined : await verifyBuiltIn(entry, path, () => {});
}
