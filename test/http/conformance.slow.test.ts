import { expect, test } from "bun:test";
import { checkConformance } from "../../tools/conformance/check-conformance.ts";

test("Schemathesis finds no difference between the running server and its OpenAPI document", async () => {
  // The same requests in every run, so that a new finding comes from a change. scripts/conformance uses random ones. All
  // examples, limits and methods of each operation are among them; conformance.full.test.ts has more combinations.
  const outcome = await checkConformance(["--generation-deterministic", "--max-examples", "10"]);
  expect(outcome).not.toBe("failed");
}, 1_500_000);
