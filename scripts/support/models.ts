import { join, resolve } from "node:path";
import { findModel, obtainModel, readCatalogue } from "../../src/models/index.ts";
import { linkIntoBuild, makeBuildFolder, root, type SetupContext } from "./checkout.ts";

const SPEECH_MODEL = "whisper-base";

/** Checks the models that the checkout carries and links the speech model into build/models. */
export async function setUpModels({ cacheRoot, log }: SetupContext): Promise<void> {
  const repositoryFolder = join(root, "models");
  const models = readCatalogue(join(repositoryFolder, "catalog.json"));
  const given = process.env.TRANSCRIBE_MODELS_DIR;
  const folders = [...(given ? [resolve(given)] : []), resolve(root, "../shared/models")];
  const options = { cacheRoot, repositoryFolder, folders, log: (line: string) => log(`models: ${line}`) };
  for (const model of models.filter(({ kind }) => kind !== "speech")) await obtainModel(model, options);

  const speech = findModel(models, SPEECH_MODEL);
  const path = await obtainModel(speech, options);
  await makeBuildFolder("models");
  await linkIntoBuild(`models/${speech.file}`, path);
  log(`models: ${models.map(({ id }) => id).join(", ")}`);
}
