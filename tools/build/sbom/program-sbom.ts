import { type BuildInfo, digestFile, programFiles } from "../../../src/program/index.ts";
import { isOwnFfmpeg } from "../../development/ffmpeg.ts";
import { root } from "../../shared/checkout.ts";
import { runCommand } from "../../shared/run-command.ts";
import { describeCheckout } from "../describe-checkout.ts";
import { installedPackages } from "../package-notices.ts";
import { programParts } from "../parts.ts";
import { type Component, writeBom } from "./document.ts";
import { commonExpression, licensed } from "./licences.ts";
import { nativeComponents, type ProgramPart } from "./native-components.ts";
import { checkoutIntegrity, npmComponent, npmReference } from "./npm-components.ts";

/** The parts of one program. */
export interface ProgramContents {
  readonly build: BuildInfo;
  readonly parts: readonly ProgramPart[];
  readonly bun: string;
  /** Path of its launcher; null for a checkout. */
  readonly launcher: string | null;
}

/** Returns the bill of materials of a program that is made of this checkout on this machine. */
export async function checkoutSbom(): Promise<string> {
  const sources = programParts(await programFiles(""));
  const parts = await Promise.all(
    sources.map(async ({ path, source }) => ({ path, sha256: await digestFile(source, "sha256") })),
  );
  return programSbom({ build: await describeCheckout(), parts, bun: process.execPath, launcher: null });
}

/**
 * Returns the bill of materials of a program, a CycloneDX document. It lists every npm package that the program may use,
 * the native parts with their files, and the models.
 * @throws {Error} when the licence, digest or owner of a part is unknown
 */
export async function programSbom({ build, parts, bun, launcher }: ProgramContents): Promise<string> {
  const integrity = await checkoutIntegrity();
  const installed = installedPackages();
  const packages = [...installed.values()].filter(({ directory }) => directory !== root);
  const unique = new Map(packages.map((each) => [npmReference(each.name, each.version), each]));
  const ownFfmpeg = await hasOwnFfmpeg(build, parts);
  const native = nativeComponents({
    build,
    parts,
    bunSha256: await digestFile(bun, "sha256"),
    launcherSha256: launcher === null ? null : await digestFile(launcher, "sha256"),
    isOwnFfmpeg: ownFfmpeg,
    archive: (name) => archiveOf(name, integrity),
  });
  const components = [...native, ...[...unique.values()].map((each) => npmComponent(each, integrity))];
  const product = productOf(build, components);
  const referenceOf = (directory: string) => {
    const found = installed.get(directory);
    return found === undefined ? [] : [npmReference(found.name, found.version)];
  };
  const dependencies = new Map<string, string[]>(
    [...unique].map(([reference, { requires }]) => [reference, requires.flatMap(referenceOf)]),
  );
  const own = installed.get(root)?.requires.flatMap(referenceOf) ?? [];
  dependencies.set(product["bom-ref"], [...native.map((component) => component["bom-ref"]), ...own]);
  dependencies.set("whisper.cpp", ["ggml"]);
  dependencies.set("addon", ["whisper.cpp", "ggml"]);
  dependencies.set("ggml", ["Vulkan-Headers", "SPIRV-Headers"]);
  dependencies.set("confine", ["glibc"]);
  dependencies.set("ffmpeg", ["glibc"]);
  dependencies.set("launcher", ["glibc"]);
  return writeBom({
    timestamp: await commitTime(build),
    product,
    components,
    dependencies,
    incomplete: ["bun", ...(ownFfmpeg ? [] : ["ffmpeg"]), "onnxruntime"],
  });
}

function productOf({ version, commit, target }: BuildInfo, components: readonly Component[]): Component {
  return {
    type: "application",
    "bom-ref": "transcribe",
    name: "transcribe",
    version,
    licenses: licensed("MIT"),
    purl: `pkg:generic/transcribe@${version}`,
    properties: [
      { name: "transcribe:commit", value: commit },
      { name: "transcribe:target", value: target },
      { name: "transcribe:licence-of-the-whole", value: commonExpression(components) },
    ],
  };
}

/** Returns whether a program contains the ffmpeg that is compiled from the pinned sources. */
async function hasOwnFfmpeg({ target }: BuildInfo, parts: readonly ProgramPart[]): Promise<boolean> {
  const sha256 = parts.find(({ path }) => path === "ffmpeg/ffmpeg")?.sha256;
  return sha256 !== undefined && (await isOwnFfmpeg(sha256, target.replace("linux-", "")));
}

/** Returns the page and the digest of an npm package that is used for its sources only. */
function archiveOf(name: string, integrity: ReadonlyMap<string, string>) {
  const id = [...integrity.keys()].find((key) => key.startsWith(`${name}@`));
  const sha512 = id === undefined ? undefined : integrity.get(id);
  if (id === undefined || sha512 === undefined) throw new Error(`bun.lock has no digest of ${name}`);
  return { url: `https://www.npmjs.com/package/${name}/v/${id.slice(name.length + 1)}`, sha512 };
}

/** Returns the time of the commit in UTC; undefined when the program differs from its commit. */
async function commitTime({ commit }: BuildInfo): Promise<string | undefined> {
  if (!/^[0-9a-f]{40}$/.test(commit)) return undefined;
  const seconds = await runCommand(["git", "show", "--no-patch", "--format=%ct", commit], { cwd: root });
  return new Date(Number(seconds.trim()) * 1000).toISOString().replace(/\.\d+Z$/, "Z");
}
