import { dirname, join, resolve } from "node:path";
import { builtInSpeechModel, obtainModel, readCatalogue } from "../../src/models/index.ts";
import { linkIntoBuild, makeBuildFolder, root, type SetupContext } from "./checkout.ts";

/** Checks the models that the checkout carries, obtains the others that the program comes with and links them into build/models. */
export async function setUpModels({ cacheRoot, log }: SetupContext): Promise<void> {
  const repositoryFolder = join(root, "models");
  const models = readCatalogue(join(repositoryFolder, "catalog.json"));
  const given = process.env.TRANSCRIBE_MODELS_DIR;
  const folders = [...(given ? [resolve(given)] : []), resolve(root, "../shared/models")];
  const options = { cacheRoot, repositoryFolder, folders, log: (line: string) => log(`models: ${line}`) };
  await makeBuildFolder("models");
  const here = models.filter(({ id, kind }) => kind !== "speech" || id === builtInSpeechModel);
  for (const model of here) {
    const path = await obtainModel(model, options);
    if (dirname(path) !== repositoryFolder) await linkIntoBuild(`models/${model.file}`, path);
  }
  log(`models: ${here.map(({ id }) => id).join(", ")}`);
}
