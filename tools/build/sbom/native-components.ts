import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { ffmpegSources } from "../../../native/build-ffmpeg.ts";
import { zstdSource } from "../../../native/build-launcher.ts";
import type { DebianSource } from "../../../native/steps/debian-sources.ts";
import { type BuildInfo, builtInModels } from "../../../src/program/index.ts";
import { root } from "../../shared/checkout.ts";
import type { Component } from "./document.ts";
import { licensed, licensedAs } from "./licences.ts";

/** A file that the program unpacks. */
export interface ProgramPart {
  /** Path after unpacking. */
  readonly path: string;
  readonly sha256: string;
}

/** The inputs of the components that are not npm packages. */
export interface NativeInputs {
  readonly build: BuildInfo;
  readonly parts: readonly ProgramPart[];
  /** Digest of the Bun program before three names in it are overwritten. */
  readonly bunSha256: string;
  /** Digest of the launcher; null in a checkout, which has none. */
  readonly launcherSha256: string | null;
  /** Whether ffmpeg was compiled from the pinned sources. The licence and the parts of another one are unknown. */
  readonly isOwnFfmpeg: boolean;
  /** SHA-512 of the npm archives that contain sources of native parts, by name and version. */
  readonly archive: (name: string) => { readonly url: string; readonly sha512: string };
}

/** A component of native code or data, and the files of the program that belong to it. */
interface Native {
  readonly component: Component;
  /** Matches the paths of its files. */
  readonly files: RegExp;
  /** Libraries that are linked into it. */
  readonly linked?: readonly Component[];
}

/**
 * Returns Bun, the native libraries, ffmpeg and the models as components, each with the digests of its files.
 * @throws {Error} when a file of the program belongs to no component
 */
export function nativeComponents(inputs: NativeInputs): Component[] {
  const natives = [
    ...[whisperCpp(inputs), ggml(inputs), onnxRuntime(inputs), ffmpeg(inputs), confine(), addon(inputs), sample()],
    ...models(),
  ];
  const owned = natives.map(({ component, files, linked = [] }) =>
    withFiles(
      component,
      inputs.parts.filter(({ path }) => files.test(path)),
      linked,
    ),
  );
  const orphan = inputs.parts.find(({ path }) => !natives.some(({ files }) => files.test(path)));
  if (orphan !== undefined) throw new Error(`no component of the bill of materials has the file ${orphan.path}`);
  return [bun(inputs), launcher(inputs), ...vulkanHeaders(), cLibrary(), ...owned];
}

function withFiles(component: Component, parts: readonly ProgramPart[], linked: readonly Component[]): Component {
  const components = parts.map(({ path, sha256 }) => ({
    type: "file" as const,
    "bom-ref": `file:${path}`,
    name: path,
    hashes: [{ alg: "SHA-256" as const, content: sha256 }],
  }));
  return { ...component, components: [...components, ...linked] };
}

function bun({ build, bunSha256 }: NativeInputs): Component {
  return {
    type: "platform",
    "bom-ref": "bun",
    name: "Bun",
    version: build.bun,
    hashes: [{ alg: "SHA-256", content: bunSha256 }],
    licenses: licensed("MIT"),
    purl: `pkg:github/oven-sh/bun@bun-v${build.bun}`,
    pedigree: {
      notes: "The names of three environment variables in the program are overwritten, so that it ignores them.",
    },
    externalReferences: [{ url: "https://github.com/oven-sh/bun", type: "vcs" }],
    components: [
      {
        type: "library",
        "bom-ref": "bun/webkit",
        name: "WebKit (JavaScriptCore)",
        licenses: licensed("LGPL-2.0-or-later"),
        externalReferences: [{ url: "https://github.com/oven-sh/WebKit", type: "vcs" }],
      },
      ...bunLibraries(),
    ],
  };
}

/** SPDX identifiers of the licences in Bun's table of libraries. Other texts there are kept as they are. */
const bunLicences: Readonly<Record<string, string>> = {
  MIT: "MIT",
  "MIT licensed": "MIT",
  "Apache 2.0": "Apache-2.0",
  "Apache 2.0 licensed": "Apache-2.0",
  "BSD 2-Clause": "BSD-2-Clause",
  "BSD 3-Clause": "BSD-3-Clause",
  zlib: "Zlib",
};

/** Returns the libraries in Bun, which its documentation lists without versions. */
function bunLibraries(): NonNullable<Component["components"]> {
  const page = readFileSync(join(root, "node_modules/bun-types/docs/project/license.mdx"), "utf8");
  const table = page.slice(page.indexOf("## Linked libraries"), page.indexOf("## Polyfills"));
  const rows = table.matchAll(/^\| \[`([^`]+)`\]\((https:[^)]+)\)([^|]*)\| ([^|]+?) +\|$/gm);
  const libraries = Array.from(rows, ([, name = "", url = "", where = "", licence = ""]) => ({
    name,
    url,
    where,
    licence,
  }));
  if (libraries.length < 20) throw new Error("Bun's list of libraries has another form than before");
  return libraries
    .filter(({ where }) => where.trim() !== "(on Windows)")
    .map(({ name, url, licence }) => {
      const words = licence.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, "$1");
      const known = bunLicences[words];
      return {
        type: "library" as const,
        "bom-ref": `bun/${name}`,
        name,
        licenses: known === undefined ? licensedAs(words) : licensed(known),
        externalReferences: [{ url, type: "website" as const }],
      };
    });
}

function whisperCpp({ build, archive }: NativeInputs): Native {
  const patches = readdirSync(join(root, "native/patches")).length;
  const component = fromArchive(archive("nodejs-whisper"), {
    type: "library",
    "bom-ref": "whisper.cpp",
    name: "whisper.cpp",
    description: "with parakeet.cpp, which is part of its sources",
    version: build.whisperCpp,
    licenses: licensed("MIT"),
    purl: `pkg:github/ggml-org/whisper.cpp@v${build.whisperCpp}`,
    pedigree: { notes: `Changed by the ${patches} patches in native/patches of this product, some of them in ggml.` },
  });
  return { component, files: /^native\/lib(whisper|parakeet)\.so$/ };
}

function ggml({ archive }: NativeInputs): Native {
  const text = readFileSync(join(root, "node_modules/nodejs-whisper/cpp/whisper.cpp/ggml/CMakeLists.txt"), "utf8");
  const version = ["MAJOR", "MINOR", "PATCH"]
    .map((part) => text.match(`GGML_VERSION_${part} (\\d+)\\)`)?.[1] ?? "?")
    .join(".");
  const component = fromArchive(archive("nodejs-whisper"), {
    type: "library",
    "bom-ref": "ggml",
    name: "ggml",
    version,
    licenses: licensed("MIT"),
    purl: `pkg:github/ggml-org/ggml@v${version}`,
    pedigree: { notes: "Changed by patches in native/patches and native/vulkan of this product." },
  });
  return { component, files: /^native\/libggml[a-z0-9-]*\.so$/ };
}

/** Adds the npm archive from which the sources of a component come, and its digest. */
function fromArchive({ url, sha512 }: ReturnType<NativeInputs["archive"]>, component: Component): Component {
  const properties = [{ name: "transcribe:source-sha512", value: sha512 }];
  return { ...component, externalReferences: [{ url, type: "source-distribution" }], properties };
}

function addon({ build }: NativeInputs): Native {
  const component: Component = {
    type: "library",
    "bom-ref": "addon",
    name: "whisper.node",
    description: "this product's addon, compiled with node-addon-api and node-api-headers",
    version: build.version,
    licenses: licensed("MIT"),
  };
  return { component, files: /^native\/whisper\.node$/ };
}

function onnxRuntime({ build }: NativeInputs): Native {
  const component: Component = {
    type: "library",
    "bom-ref": "onnxruntime",
    name: "ONNX Runtime",
    description: "from the npm package onnxruntime-node; the notices list the parts in it",
    version: build.onnxRuntime,
    licenses: licensed("MIT"),
    purl: `pkg:github/microsoft/onnxruntime@v${build.onnxRuntime}`,
    externalReferences: [{ url: "https://github.com/microsoft/onnxruntime", type: "vcs" }],
  };
  return { component, files: /^onnxruntime\// };
}

function ffmpeg({ build, isOwnFfmpeg }: NativeInputs): Native {
  const { ffmpeg: source, opus, zlib } = ffmpegSources;
  const component: Component = {
    type: "application",
    "bom-ref": "ffmpeg",
    name: "ffmpeg",
    description: "a program of its own that the server starts",
    version: build.ffmpeg,
    licenses: isOwnFfmpeg ? licensed("LGPL-2.1-or-later") : licensedAs("as the program reports it"),
    purl: `pkg:github/ffmpeg/ffmpeg@${encodeURIComponent(isOwnFfmpeg ? `n${source.version}` : build.ffmpeg)}`,
    externalReferences: [{ url: "https://github.com/FFmpeg/FFmpeg", type: "vcs" }],
    ...(isOwnFfmpeg ? { properties: sourceDigest(source) } : {}),
  };
  const libraries = [
    linkedLibrary("ffmpeg", opus, "xiph/opus", "BSD-3-Clause"),
    linkedLibrary("ffmpeg", zlib, "madler/zlib", "Zlib"),
  ];
  return { component, files: /^ffmpeg\/ffmpeg$/, linked: isOwnFfmpeg ? libraries : [] };
}

/** Returns a library that is linked into a program. @param repository owner and name on GitHub */
function linkedLibrary(program: string, source: DebianSource, repository: string, licence: string): Component {
  const { name, version } = source;
  return {
    type: "library",
    "bom-ref": `${program}/${name.toLowerCase()}`,
    ...{ name, version },
    licenses: licensed(licence),
    purl: `pkg:github/${repository}@v${version}`,
    properties: sourceDigest(source),
  };
}

function sourceDigest({ path, sha256 }: DebianSource): NonNullable<Component["properties"]> {
  return [
    { name: "transcribe:source-archive", value: basename(path) },
    { name: "transcribe:source-sha256", value: sha256 },
  ];
}

function launcher({ launcherSha256 }: NativeInputs): Component {
  return {
    type: "application",
    "bom-ref": "launcher",
    name: "launcher",
    description: "this product's program that unpacks and starts it, with Zstandard's decoder",
    ...(launcherSha256 === null ? {} : { hashes: [{ alg: "SHA-256", content: launcherSha256 }] }),
    licenses: licensed("MIT"),
    components: [linkedLibrary("launcher", zstdSource, "facebook/zstd", "BSD-3-Clause")],
  };
}

function confine(): Native {
  const component: Component = {
    type: "application",
    "bom-ref": "confine",
    name: "confine",
    description: "this product's program that confines ffmpeg",
    licenses: licensed("MIT"),
  };
  return { component, files: /^ffmpeg\/confine$/ };
}

function cLibrary(): Component {
  return {
    type: "library",
    "bom-ref": "glibc",
    name: "GNU C Library",
    description: "linked statically into confine, ffmpeg and the launcher only",
    licenses: licensed("LGPL-2.1-or-later"),
    externalReferences: [{ url: "https://sourceware.org/glibc", type: "website" }],
  };
}

function vulkanHeaders(): Component[] {
  const version = "1.4.309";
  return ["Vulkan-Headers", "SPIRV-Headers"].map((name) => ({
    type: "library",
    "bom-ref": name,
    name,
    version,
    licenses: licensed("Apache-2.0 AND MIT"),
    purl: `pkg:github/khronosgroup/${name.toLowerCase()}@vulkan-sdk-${version}`,
  }));
}

function models(): Native[] {
  return Object.values(builtInModels).map(({ id, file, title, licence, homepage }) => ({
    component: {
      type: "machine-learning-model",
      "bom-ref": `model:${id}`,
      name: id,
      description: title,
      licenses: licensed(licence),
      externalReferences: [{ url: homepage, type: "website" }],
    },
    files: new RegExp(`^models/${RegExp.escape(file)}$`),
  }));
}

function sample(): Native {
  const component: Component = {
    type: "data",
    "bom-ref": "samples",
    name: "recording for the benchmark",
    licenses: licensedAs("public domain"),
  };
  return { component, files: /^samples\/jfk\.mp3$/ };
}
