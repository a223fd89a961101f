import { builtInPath, productCatalogue, verifyBuiltIn } from "../../../models/index.ts";
import { type Check, type Finding, ok, problem } from "../check.ts";
import { filesOf } from "../files-of.ts";

export const modelSpeakers: Check = {
  id: "model.speakers",
  title: "Speaker models",
  explanation:
    "The two models that find speech and tell speakers apart come with the program; both must be there, byte for byte as they were published.",
  heavy: true,
  async run(context): Promise<Finding> {
    const files = filesOf(context);
    const detail: string[] = [];
    for (const entry of productCatalogue()) {
      const path = entry.kind === "speech" ? null : builtInPath(entry, files);
      if (path === null) continue;
      const damage = await verifyBuiltIn(entry, path, () => {});
      if (damage !== null) detail.push(`${entry.id}: ${damage}`);
    }
    if (detail.length === 0) return ok("both there, checksums right");
    return problem("a model that tells speakers apart is damaged or missing, so nothing can be transcribed", {
      detail,
      advice: "Unpack the program again with `transcribe doctor --fix`, or run scripts/setup in a checkout.",
    });
  },
};
