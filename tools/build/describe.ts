// Describes this checkout to a program that runs from it: describe.ts build | notices | sbom. Prints JSON.
import { messageOf } from "../../src/text/index.ts";
import { checkoutNotices, describeCheckout } from "./describe-checkout.ts";
import { checkoutSbom } from "./sbom/program-sbom.ts";

const descriptions: Readonly<Record<string, () => Promise<string>>> = {
  build: async () => JSON.stringify(await describeCheckout()),
  notices: async () => JSON.stringify(await checkoutNotices()),
  sbom: checkoutSbom,
};

try {
  const describe = descriptions[process.argv[2] ?? ""];
  if (describe === undefined) throw new Error(`name one of ${Object.keys(descriptions).join(", ")}`);
  await Bun.write(Bun.stdout, await describe());
} catch (error) {
  console.error(messageOf(error));
  process.exitCode = 1;
}
