import { beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { root } from "../../../harness/checkout.ts";
import { isFromSource } from "../../../harness/program.ts";
import { runCli } from "../../../harness/server.ts";
import { builtInModels, digestFile, programFiles } from "../../../src/program/index.ts";
import { checkoutNotices } from "../../../tools/build/describe-checkout.ts";
import { type Bom, checkBom } from "../../../tools/build/sbom/document.ts";
import { imageSbom } from "../../../tools/build/sbom/image-sbom.ts";
import { checkoutSbom } from "../../../tools/build/sbom/program-sbom.ts";
import { distributionOf, systemFiles, systemPackages } from "../../../tools/release/container/image-files.ts";

describe("the bill of materials", () => {
  let text: string;
  let bom: Bom;
  beforeAll(async () => {
    text = await checkoutSbom();
    bom = checkBom(JSON.parse(text));
  });

  test("has every npm package of the notices, with the digest of its archive", async () => {
    const packages = bom.components.filter(({ purl }) => purl?.startsWith("pkg:npm/"));
    for (const { hashes, licenses } of packages) {
      expect(hashes?.[0]?.alg).toBe("SHA-512");
      expect(licenses).toHaveLength(1);
    }
    const listed = new Set(packages.map(({ name, version }) => `${name}@${version}`));
    const notices = (await checkoutNotices()).filter(({ version, source }) => /^\d/.test(version) && source !== "");
    const native = /^(Bun|whisper\.cpp|Vulkan|ONNX|GNU|ffmpeg|Zstandard)/;
    const missing = notices.filter(({ name, version }) => !native.test(name) && !listed.has(`${name}@${version}`));
    expect(missing.map(({ name }) => name)).toEqual([]);
    expect(listed.size).toBeGreaterThan(100);
  });

  test("has the digests of the models and of the files of the native parts", async () => {
    const files = await programFiles("");
    const digests = new Map(
      bom.components.flatMap(({ components = [] }) =>
        components.map(({ name, hashes }) => [name, hashes?.[0]?.content]),
      ),
    );
    const speech = digests.get(`models/${builtInModels.speech.file}`);
    expect(speech).toBe(await digestFile(files.speechModel, "sha256"));
    expect(digests.get("ffmpeg/ffmpeg")).toBe(await digestFile(files.ffmpeg, "sha256"));
    expect(
      [...digests.keys()].filter((name) => /^native\/(whisper\.node|lib(whisper|ggml)\.so)$/.test(name)),
    ).toHaveLength(3);
  });

  test.if(isFromSource)("is the same each time, and the program prints it", async () => {
    const printed = await runCli(["licenses", "--sbom"]);
    expect(printed.stdout).toBe(text);
    expect(printed.exitCode).toBe(0);
    expect(text).not.toContain(process.cwd());
  });

  test("names the licence of the whole as the documentation and the image do", async () => {
    const whole = bom.metadata.component.properties?.find(
      ({ name }) => name === "transcribe:licence-of-the-whole",
    )?.value;
    expect(whole).toMatch(/^\(MIT OR CC0-1\.0\) AND 0BSD AND .+ AND Zlib$/);
    expect(await Bun.file(join(root, "docs/versioning.md")).text()).toContain(`\`${whole}\``);
    const names = whole?.split(" AND ") ?? [];
    const image = (await Bun.file(join(root, "deploy/Containerfile")).text()).match(/image\.licenses="([^"]+)"/)?.[1];
    expect(image?.split(" AND ")).toEqual(expect.arrayContaining(names));
  });

  test("of an image has the system's packages, too", async () => {
    const packages = await systemPackages(await systemFiles(["/usr/bin/tar"]));
    const image = checkBom(
      JSON.parse(imageSbom(bom, "a".repeat(64), packages, distributionOf('ID=debian\nVERSION_ID="12"\n'))),
    );
    expect(image.metadata.component.type).toBe("container");
    const libraries = image.components.flatMap(({ purl }) => (purl?.startsWith("pkg:deb/") ? [purl] : []));
    expect(
      libraries.some((purl) => /^pkg:deb\/debian\/libc6@\d[^?]+\?arch=(amd64|arm64)&distro=debian-12$/.test(purl)),
    ).toBe(true);
    expect(image.components.length).toBe(bom.components.length + 1 + packages.length);
    expect(image.serialNumber).not.toBe(bom.serialNumber);
  });

  test.each<[string, (broken: Bom) => unknown, RegExp]>([
    ["an unknown field", (broken) => ({ ...broken, colour: "red" }), /colour/],
    ["a reference to nothing", (broken) => ({ ...broken, dependencies: [{ ref: "nobody" }] }), /refers to nobody/],
    [
      "a part twice",
      (broken) => ({ ...broken, components: [...broken.components, ...broken.components.slice(0, 1)] }),
      /twice/,
    ],
    ["a serial number that is no UUID", (broken) => ({ ...broken, serialNumber: "urn:uuid:1" }), /serialNumber/],
  ])("is refused with %s", (_, change, complaint) => {
    expect(() => checkBom(change(bom))).toThrow(complaint);
  });
});
