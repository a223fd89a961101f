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
  let text: string;
  let bom: Bom;
  beforeAll(async () => {
    text = await checkoutSbom();
    bom = checkBom(JSON.parse(text));
  });

  test("find no fault in the bills of the program and of an image, by the strict schema of CycloneDX 1.6", async () => {
    const packages = await systemPackages(await systemFiles(["/usr/bin/tar"]));
    const image = imageSbom(bom, "a".repeat(64), packages, distributionOf('ID=debian\nVERSION_ID="12"\n'));
    expect(await validate("cyclonedx", [text, image])).toEqual([[], []]);
  });

  test("find an unknown field, a wrong kind of part and a licence that is no name of SPDX", async () => {
    const [first = bom.metadata.component] = bom.components;
    const broken = [
      { ...bom, colour: "red" },
      { ...bom, components: [{ ...first, type: "programme" }] },
      { ...bom, components: [{ ...first, licenses: [{ license: { id: "MTI" } }] }] },
    ];
    const faults = await validate(
      "cyclonedx",
      broken.map((each) => JSON.stringify(each)),
    );
    expect(faults.map((each) => each.length > 0)).toEqual([true, true, true]);
  });

  test("find only names and expressions of SPDX in the licences", async () => {
    const licences = bom.components.flatMap(({ licenses = [] }) =>
      licenses.flatMap((each) =>
        "expression" in each ? [each.expression] : "id" in each.license ? [each.license.id] : [],
      ),
    );
    const expressions = [...new Set([licenceOfWhole(bom), ...licences])];
    expect(expressions.length).toBeGreaterThan(10);
    const faults = await validate("licence", [...expressions, "MTI", "MIT AND", "(MIT"]);
    expect(faults.slice(0, expressions.length)).toEqual(expressions.map(() => []));
    expect(faults.slice(expressions.length).map((each) => each.length > 0)).toEqual([true, true, true]);
  });
});
