import { join, resolve } from "node:path";
import { productCatalogue } from "../../../src/models/index.ts";
import { linkIntoBuild, makeBuildFolder, root, type SetupContext } from "../checkout.ts";
import { obtainModel } from "./obtain-model.ts";

/** Links the models that come with the program into build/models: those that the checkout carries are checked, the others obtained. */
export async function setUpModels({ cacheRoot, log }: SetupContext): Promise<void> {
  const repositoryFolder = join(root, "models");
  const given = process.env.TRANSCRIBE_MODELS_DIR;
  const folders = [...(given ? [resolve(given)] : []), resolve(root, "../shared/models")];
  const options = { cacheRoot, repositoryFolder, folders, log: (line: string) => log(`models: ${line}`) };
  await makeBuildFolder("models");
  const here = productCatalogue().filter(({ builtIn }) => builtIn === true);
  for (const model of here) await linkIntoBuild(`models/${model.file}`, await obtainModel(model, options));
  log(`models: ${here.map(({ id }) => id).join(", ")}`);
}
