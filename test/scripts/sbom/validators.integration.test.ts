import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { type Bom, checkBom } from "../../../tools/build/sbom/document.ts";
import { imageSbom } from "../../../tools/build/sbom/image-sbom.ts";
import { checkoutSbom } from "../../../tools/build/sbom/program-sbom.ts";
import { distributionOf, systemFiles, systemPackages } from "../../../tools/release/container/image-files.ts";
import { licenceOfWhole } from "../../../tools/release/package/facts.ts";
import { independentValidators, type Validate } from "../../support/validators/index.ts";

setDefaultTimeout(120_000);

const validators = await independentValidators("the bills of materials by a validator of CycloneDX");
const validate: Validate = (format, documents) => {
  if (validators === null) throw new Error("there are no validators");
  return validators(format, documents);
};

describe.skipIf(validators === null)("independent validators", () => {
  let bom: Bom;
  /** The faults of whole bills, of a small one without a fault, and of that one with one fault each. */
  let faults: { readonly whole: string[][]; readonly small: string[] | undefined; readonly broken: string[][] };
  beforeAll(async () => {
    const text = await checkoutSbom();
    bom = checkBom(JSON.parse(text));
    const packages = await systemPackages(await systemFiles(["/usr/bin/tar"]));
    const image = imageSbom(bom, "a".repeat(64), packages, distributionOf('ID=debian\nVERSION_ID="12"\n'));
    const [first = bom.metadata.component] = bom.components;
    const small = { ...bom, components: [first], dependencies: [] };
    const broken = [
      { ...small, colour: "red" },
      { ...small, components: [{ ...first, type: "programme" }] },
      { ...small, components: [{ ...first, licenses: [{ license: { id: "MTI" } }] }] },
    ];
    // All at once, because the validator takes seconds to start.
    const found = await validate("cyclonedx", [text, image, ...[small, ...broken].map((each) => JSON.stringify(each))]);
    faults = { whole: found.slice(0, 2), small: found[2], broken: found.slice(3) };
  });

  test("find no fault in the bills of the program and of an image, by the strict schema of CycloneDX 1.6", () => {
    expect(faults.whole).toEqual([[], []]);
  });

  test("find an unknown field, a wrong kind of part and a licence that is no name of SPDX", () => {
    expect(faults.small).toEqual([]);
    expect(faults.broken.map((each) => each.length > 0)).toEqual([true, true, true]);
  });

  test("find only names and expressions of SPDX in the licences", async () => {
    const licences = bom.components.flatMap(({ licenses = [] }) =>
      licenses.flatMap((each) =>
        "expression" in each ? [each.expression] : "id" in each.license ? [each.license.id] : [],
      ),
    );
    const expressions = [...new Set([licenceOfWhole(bom), ...licences])];
    expect(expressions.length).toBeGreaterThan(10);
    const found = await validate("licence", [...expressions, "MTI", "MIT AND", "(MIT"]);
    expect(found.slice(0, expressions.length)).toEqual(expressions.map(() => []));
    expect(found.slice(expressions.length).map((each) => each.length > 0)).toEqual([true, true, true]);
  });
});
