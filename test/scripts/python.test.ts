import { expect, test } from "bun:test";
import { requirementsOf } from "../../tools/shared/python.ts";

test("the requirements of a file do not change with its comments and blank lines", () => {
  const plain = "numpy==2.0.0\nonnx==1.17.0";
  expect(requirementsOf(`# How to renew them\n\n${plain.replace("\n", "  # used by graph.py\r\n")}\n`)).toBe(plain);
  expect(requirementsOf("a @ https://example.org/a.whl#sha256=1")).toBe("a @ https://example.org/a.whl#sha256=1");
  expect(requirementsOf(plain)).not.toBe(requirementsOf("numpy==2.0.1\nonnx==1.17.0"));
});
