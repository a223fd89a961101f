import { ModelLibrary, productCatalogue, verifyInstalled } from "../../../models/index.ts";
import { count, size } from "../../../text/index.ts";
import { type Check, type Finding, ok, problem, skipped } from "../check.ts";

export const modelLibrary: Check = {
  id: "model.library",
  title: "Installed models",
  explanation:
    "The models that `transcribe models pull` and `import` brought. With `--all` every byte of each is compared with its checksum, which takes some seconds for each gigabyte.",
  heavy: true,
  async run({ data, paths, all }): Promise<Finding> {
    if (data !== "there") return skipped("there is no data directory to look into");
    const models = new ModelLibrary(paths.models).list();
    if (models.length === 0) return skipped("none beside the program's own");
    const named = models.map(({ id, sizeBytes }) => `${id}, ${size(sizeBytes)}`);
    if (!all) return ok(`${count(models.length, "model")}; --all compares their checksums`, ...named);
    const catalogue = productCatalogue();
    const damaged: string[] = [];
    for (const model of models) {
      const damage = await verifyInstalled(model, catalogue, () => {});
      if (damage !== null) damaged.push(`${model.id}: ${damage}`);
    }
    if (damaged.length === 0) return ok(`${count(models.length, "model")}, checksums right`, ...named);
    return problem(`${count(damaged.length, "installed model")} not what came in`, {
      detail: damaged,
      advice: "Remove it (transcribe models remove ID) and get it anew (transcribe models pull ID).",
    });
  },
};
