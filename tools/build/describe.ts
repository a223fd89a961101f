// Describes this checkout to a program that runs from it: describe.ts build | commit | notices | sbom. Prints JSON.
import { messageOf } from "../../src/text/index.ts";

/** Each loads its own modules, because those of all take longer to load than the commit takes to read. */
const descriptions: Readonly<Record<string, () => Promise<string>>> = {
  build: async () => JSON.stringify(await (await import("./describe-checkout.ts")).describeCheckout()),
  commit: async () => JSON.stringify(await (await import("./checkout-commit.ts")).checkoutCommit()),
  notices: async () => JSON.stringify(await (await import("./describe-checkout.ts")).checkoutNotices()),
  sbom: async () => (await import("./sbom/program-sbom.ts")).checkoutSbom(),
};

try {
  const describe = descriptions[process.argv[2] ?? ""];
  if (describe === undefined) throw new Error(`name one of ${Object.keys(descriptions).join(", ")}`);
  await Bun.write(Bun.stdout, await describe());
} catch (error) {
  console.error(messageOf(error));
  process.exitCode = 1;
}
