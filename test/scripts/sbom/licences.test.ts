import { describe, expect, test } from "bun:test";
import { commonExpression, licensed } from "../../../tools/build/sbom/licences.ts";
import { npmComponent, npmReference, readIntegrity } from "../../../tools/build/sbom/npm-components.ts";

describe("licences of the bill of materials", () => {
  test.each([
    ["MIT", [{ license: { id: "MIT" } }]],
    ["(MIT OR CC0-1.0)", [{ expression: "(MIT OR CC0-1.0)" }]],
    ["GPL-3.0-or-later WITH GCC-exception-3.1", [{ expression: "GPL-3.0-or-later WITH GCC-exception-3.1" }]],
  ])("%s has its form in CycloneDX", (expression, expected) => {
    expect<unknown>(licensed(expression)).toEqual(expected);
  });

  test.each(["", "see its text", "MIT AND BUSL-1.1", "()"])(
    "%j is refused until a person has read it",
    (expression) => {
      expect(() => licensed(expression)).toThrow(/not an expression of known licences/);
    },
  );

  test("of several parts are one expression", () => {
    const parts = ["MIT", "Apache-2.0 AND MIT", "MIT OR CC0-1.0"].map((expression, index) => ({
      ...{ type: "library" as const, "bom-ref": String(index), name: "part" },
      licenses: licensed(expression),
    }));
    expect(commonExpression(parts)).toBe("(MIT OR CC0-1.0) AND Apache-2.0 AND MIT");
  });

  const sha512 = Buffer.alloc(64, 7);
  const lock = `{ "packages": { "a/@b/c": ["@b/c@1.2.3", "", { "bin": "x" }, "sha512-${sha512.toString("base64")}"], }, }`;
  const found = { name: "@b/c", version: "1.2.3", licence: "MIT", source: "", directory: "", requires: [] };

  test("an npm package has the digest of the lock file and an encoded scope", () => {
    expect(npmComponent(found, readIntegrity(lock))).toMatchObject({
      hashes: [{ alg: "SHA-512", content: sha512.toString("hex") }],
      purl: "pkg:npm/%40b/c@1.2.3",
    });
    expect(npmReference("plain", "1.0.0")).toBe("pkg:npm/plain@1.0.0");
  });

  test.each([
    [{ ...found, version: "1.2.4" }, /no digest of @b\/c@1\.2\.4/],
    [{ ...found, licence: undefined }, /declares no licence/],
  ])("an npm package without digest or licence is refused", (incomplete, complaint) => {
    expect(() => npmComponent(incomplete, readIntegrity(lock))).toThrow(complaint);
  });
});
