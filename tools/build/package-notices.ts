import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { makeCacheEntry } from "../../src/files/index.ts";
import type { Notice } from "../../src/program/index.ts";
import { root } from "../shared/checkout.ts";

const names = Type.Optional(Type.Record(Type.String(), Type.String()));
const packageSchema = Type.Object({
  name: Type.String(),
  version: Type.String(),
  license: Type.Optional(Type.String()),
  homepage: Type.Optional(Type.String()),
  repository: Type.Optional(Type.Union([Type.String(), Type.Object({ url: Type.String() })])),
  dependencies: names,
  peerDependencies: names,
});

/** Licence texts for packages that declare a licence but do not contain its text. */
const missingTexts: Readonly<Record<string, string>> = {
  "drizzle-orm": "licences/apache-2.0.txt",
  "onnxruntime-common": "licences/onnxruntime.txt",
  "onnxruntime-node": "licences/onnxruntime.txt",
  "@tokenizer/token": "licences/mit.txt",
  standardwebhooks: "licences/mit.txt",
};

/** Packages that are used only for types, although other packages list them as peers; they are never compiled in. */
const typesOnly = /^(typescript|bun-types|undici-types|openapi-types|@types\/.+)$/;

const licenceFile = /licen[cs]e|copying|notice/i;

export interface InstalledPackage {
  readonly directory: string;
  readonly name: string;
  readonly version: string;
  /** An SPDX expression, as the package declares it. */
  readonly licence: string | undefined;
  readonly source: string;
  /** The directories of the packages that it requires. */
  readonly requires: readonly string[];
}

/** Returns every npm package that the program may use, by directory. The first one is the checkout itself. */
export function installedPackages(): Map<string, InstalledPackage> {
  const found = new Map<string, InstalledPackage>();
  collect(root, found);
  return found;
}

/**
 * Returns a notice of every npm package that the program may use, by name. @throws Error when one has no licence text
 */
export function packageNotices(): Notice[] {
  const packages = [...installedPackages().values()].filter(({ directory }) => directory !== root);
  return packages.map(noticeOf).sort((a, b) => (a.name < b.name ? -1 : 1));
}

function collect(directory: string, found: Map<string, InstalledPackage>): void {
  const text = readFileSync(join(directory, "package.json"), "utf8");
  const manifest = Value.Parse(packageSchema, JSON.parse(text));
  const { name, version, license: licence, homepage, repository, dependencies, peerDependencies } = manifest;
  const url = typeof repository === "string" ? repository : repository?.url;
  const source = url ?? homepage ?? `the npm package ${name}`;
  const names = Object.keys({ ...peerDependencies, ...dependencies }).filter((other) => !typesOnly.test(other));
  const requires = names.flatMap((other) => find(other, directory) ?? []);
  found.set(directory, { directory, name, version, licence, source, requires });
  for (const place of requires) if (!found.has(place)) collect(place, found);
}

/** Returns the directory of a package that another one requires; null when it is not installed, as peers may be. */
function find(name: string, from: string): string | null {
  const place = join(from, "node_modules", name);
  if (existsSync(join(place, "package.json"))) return place;
  return from === root ? null : find(name, dirname(from));
}

function noticeOf({ directory, name, version, licence = "see its text", source }: InstalledPackage): Notice {
  const files = readdirSync(directory).filter((file) => licenceFile.test(file));
  const texts = files.sort().map((file) => readFileSync(join(directory, file), "utf8").trim());
  const kept = missingTexts[name];
  if (texts.length === 0 && kept !== undefined) texts.push(readFileSync(join(root, kept), "utf8").trim());
  if (texts.length === 0) throw new Error(`the package ${name} contains no licence; add its text to missingTexts`);
  return { name, version, licence, source, text: texts.join("\n\n") };
}

/** Writes a file into the cache, in a folder named by the content. @param name its folder and name @returns its path */
export async function writeByContent(cacheRoot: string, name: string, content: string): Promise<string> {
  const entry = join(dirname(name), createHash("sha256").update(content).digest("hex"));
  const folder = await makeCacheEntry(cacheRoot, entry, async (directory) => {
    await Bun.write(join(directory, basename(name)), content);
  });
  return join(folder, basename(name));
}

/** Checks that every package with compiled code has a notice. @throws {Error} with the packages without a notice */
export function requireNotices(inputs: readonly string[], notices: readonly Notice[]): void {
  const known = new Set(notices.map(({ name }) => name));
  const packages = new Set(inputs.flatMap((path) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []));
  if (packages.size === 0) throw new Error("the bundler lists no package with code");
  const missing = [...packages].filter((name) => !known.has(name));
  if (missing.length > 0) throw new Error(`no notice exists for ${missing.join(", ")}`);
}
