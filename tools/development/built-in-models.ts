import { join, resolve } from "node:path";
import { removeOldTemporaryFolders } from "../../src/files/index.ts";
import { productCatalogue } from "../../src/models/index.ts";
import { obtainModel } from "../models/obtain-model.ts";
import { linkIntoBuild, makeBuildFolder, root, type SetupContext } from "../shared/checkout.ts";

/** Links the built-in models into build/models: checks the models of the repository, and obtains the others. */
export async function setUpModels({ cacheRoot, log }: SetupContext): Promise<void> {
  await removeOldTemporaryFolders(cacheRoot, Date.now());
  const repositoryFolder = join(root, "models");
  const given = process.env.TRANSCRIBE_MODELS_DIR;
  const folders = given ? [resolve(given)] : [];
  const options = { cacheRoot, repositoryFolder, folders, log: (line: string) => log(`models: ${line}`) };
  await makeBuildFolder("models");
  const here = productCatalogue().filter(({ builtIn }) => builtIn === true);
  for (const model of here) await linkIntoBuild(`models/${model.file}`, await obtainModel(model, options));
  log(`models: ${here.map(({ id }) => id).join(", ")}`);
}
