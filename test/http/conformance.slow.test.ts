import { expect, test } from "bun:test";
import { checkConformance } from "../../tools/conformance/check-conformance.ts";

test("Schemathesis finds no difference between the running server and its OpenAPI document", async () => {
  // The same requests in every run, so that a new finding comes from a change. scripts/conformance uses random ones.
  const outcome = await checkConformance(["--generation-deterministic", "--max-examples", "50"]);
  expect(outcome).not.toBe("failed");
}, 1_500_000);
