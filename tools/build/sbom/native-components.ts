import { basename, join } from "node:path";
import { Glob } from "bun";
import { ffmpegSources } from "../../../native/build-ffmpeg.ts";
import { zstdSource } from "../../../native/build-launcher.ts";
import type { DebianSource } from "../../../native/steps/debian-sources.ts";
import { UPSTREAM } from "../../../native/upstream.ts";
import { type BuildInfo, builtInModels } from "../../../src/program/index.ts";
import { root } from "../../shared/checkout.ts";
import { bunComponent } from "./bun-component.ts";
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
  const natives = [...ownedComponents(inputs), ffmpeg(inputs), ...models()];
  const orphan = inputs.parts.find(({ path }) => !natives.some(({ files }) => files.test(path)));
  if (orphan !== undefined) throw new Error(`no component of the bill of materials has the file ${orphan.path}`);
  const owned = natives.map(({ component, files, linked = [] }) => {
    const own = inputs.parts.filter(({ path }) => files.test(path)).map(fileComponent);
    return { ...component, components: [...own, ...linked] };
  });
  return [bunComponent(inputs.build.bun, inputs.bunSha256), ...builtComponents(inputs), ...owned];
}

function fileComponent({ path, sha256 }: ProgramPart) {
  const hashes = [{ alg: "SHA-256" as const, content: sha256 }];
  return { type: "file" as const, "bom-ref": `file:${path}`, name: path, hashes };
}

/** Returns the libraries, the program that confines ffmpeg, and the recording for the benchmark. */
function ownedComponents({ build, archive }: NativeInputs): Native[] {
  const { url, sha512 } = archive(UPSTREAM.package);
  /** The npm archive from which sources come, and its digest. */
  const fromArchive = {
    externalReferences: [{ url, type: "source-distribution" as const }],
    properties: [{ name: "transcribe:source-sha512", value: sha512 }],
  };
  const patches = [...new Glob("*/*.patch").scanSync(join(root, "native/patches"))].length;
  const { ggml } = UPSTREAM;
  return [
    {
      files: /^native\/lib(whisper|parakeet)\.so$/,
      component: {
        ...{ type: "library", "bom-ref": "whisper.cpp", name: "whisper.cpp", version: build.whisperCpp },
        description: "with parakeet.cpp, which is part of its sources",
        licenses: licensed("MIT"),
        purl: `pkg:github/ggml-org/whisper.cpp@v${build.whisperCpp}`,
        pedigree: {
          notes: `Changed by the ${patches} patches in native/patches of this product, some of them in ggml; they include and call its native/src.`,
        },
        ...fromArchive,
      },
    },
    {
      files: /^native\/libggml[a-z0-9-]*\.so$/,
      component: {
        ...{ type: "library", "bom-ref": "ggml", name: "ggml", version: ggml, licenses: licensed("MIT") },
        purl: `pkg:github/ggml-org/ggml@v${ggml}`,
        pedigree: {
          notes:
            "Changed by patches in native/patches and native/vulkan of this product, which include its native/src.",
        },
        ...fromArchive,
      },
    },
    {
      files: /^native\/whisper\.node$/,
      component: {
        ...{ type: "library", "bom-ref": "addon", name: "whisper.node", version: build.version },
        description: "this product's addon, compiled with node-addon-api and node-api-headers",
        licenses: licensed("MIT"),
      },
    },
    {
      files: /^onnxruntime\//,
      component: {
        ...{ type: "library", "bom-ref": "onnxruntime", name: "ONNX Runtime", version: build.onnxRuntime },
        description: "from the npm package onnxruntime-node; the notices list the parts in it",
        licenses: licensed("MIT"),
        purl: `pkg:github/microsoft/onnxruntime@v${build.onnxRuntime}`,
        externalReferences: [{ url: "https://github.com/microsoft/onnxruntime", type: "vcs" }],
      },
    },
    {
      files: /^ffmpeg\/confine$/,
      component: {
        ...{ type: "application", "bom-ref": "confine", name: "confine", licenses: licensed("MIT") },
        description: "this product's program that confines ffmpeg",
      },
    },
    {
      files: /^samples\/jfk\.mp3$/,
      component: {
        ...{ type: "data", "bom-ref": "samples", name: "recording for the benchmark" },
        licenses: licensedAs("public domain"),
      },
    },
  ];
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

/** Returns the launcher, and the parts of programs that are no files of their own. */
function builtComponents({ launcherSha256 }: NativeInputs): Component[] {
  const headers = ["Vulkan-Headers", "SPIRV-Headers"].map((name) => ({
    ...{ type: "library" as const, "bom-ref": name, name, version: "1.4.309" },
    licenses: licensed("Apache-2.0 AND MIT"),
    purl: `pkg:github/khronosgroup/${name.toLowerCase()}@vulkan-sdk-1.4.309`,
  }));
  return [
    {
      ...{ type: "application", "bom-ref": "launcher", name: "launcher", licenses: licensed("MIT") },
      description: "this product's program that unpacks and starts it, with Zstandard's decoder",
      ...(launcherSha256 === null ? {} : { hashes: [{ alg: "SHA-256", content: launcherSha256 }] }),
      components: [linkedLibrary("launcher", zstdSource, "facebook/zstd", "BSD-3-Clause")],
    },
    ...headers,
    {
      ...{ type: "library", "bom-ref": "glibc", name: "GNU C Library", licenses: licensed("LGPL-2.1-or-later") },
      description: "linked statically into confine, ffmpeg and the launcher only",
      externalReferences: [{ url: "https://sourceware.org/glibc", type: "website" }],
    },
  ];
}

function models(): Native[] {
  return Object.values(builtInModels).map(({ id, file, title, licence, homepage }) => ({
    files: new RegExp(`^models/${RegExp.escape(file)}$`),
    component: {
      ...{ type: "machine-learning-model", "bom-ref": `model:${id}`, name: id, description: title },
      licenses: licensed(licence),
      externalReferences: [{ url: homepage, type: "website" }],
    },
  }));
}
