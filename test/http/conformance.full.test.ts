import { expect, test } from "bun:test";
import { checkConformance } from "../../tools/conformance/check-conformance.ts";

test("Schemathesis finds no difference from the OpenAPI document in many combinations of values and of requests", async () => {
  const outcome = await checkConformance(["--generation-deterministic", "--max-examples", "100"]);
  expect(outcome).not.toBe("failed");
}, 1_500_000);
