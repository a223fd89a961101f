import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { zstdSource } from "../../native/build-launcher.ts";
import { UPSTREAM } from "../../native/upstream.ts";
import { migrationNames } from "../../src/database/migrate.ts";
import {
  type BuildInfo,
  builtInModels,
  digestFile,
  type Notice,
  programFiles,
  programVersion,
} from "../../src/program/index.ts";
import { markedDescription } from "../../src/verification/index.ts";
import { isOwnFfmpeg } from "../development/ffmpeg.ts";
import { root } from "../shared/checkout.ts";
import { checkoutCommit } from "./checkout-commit.ts";
import { askFfmpeg, ffmpegNotice } from "./ffmpeg-notice.ts";
import { packageNotices, writeByContent } from "./package-notices.ts";
import type { ForeignTarget } from "./target.ts";

/** Describes the components of a checkout in which scripts/setup was run; missing ones are `unknown`. */
export async function describeCheckout(foreign?: ForeignTarget): Promise<BuildInfo> {
  const { ffmpeg, speechModel, segmentationModel, embeddingModel } = await programFiles("");
  const report = foreign?.ffmpeg ?? (await askFfmpeg(ffmpeg));
  return {
    version: programVersion,
    commit: await checkoutCommit(),
    target: foreign?.name ?? `${process.platform}-${process.arch}`,
    bun: Bun.version,
    whisperCpp: UPSTREAM.whisperCpp,
    onnxRuntime: match("node_modules/onnxruntime-node/package.json", /"version": "([^"]+)"/),
    ffmpeg: report.version?.match(/^ffmpeg version (\S+)/)?.[1] ?? "unknown",
    models: await Promise.all(
      [speechModel, segmentationModel, embeddingModel].map(async (path) => ({
        file: basename(path),
        sha256: await digestFile(path, "sha256").catch(() => "unknown"),
      })),
    ),
  };
}

/** Writes the description that a program file contains into the cache. @returns its path */
export function writeDescription({ version, commit, target }: BuildInfo, cacheRoot: string): Promise<string> {
  const content = markedDescription({ version, commit, target, migrations: [...migrationNames] });
  return writeByContent(cacheRoot, "descriptions/description", content);
}

function match(path: string, pattern: RegExp): string {
  try {
    return read(path).match(pattern)?.[1] ?? "unknown";
  } catch {
    return "unknown";
  }
}

/**
 * Returns the notices of all components of a program compiled from this checkout.
 * @throws {Error} when a package has no licence text
 */
export async function checkoutNotices(foreign?: ForeignTarget): Promise<Notice[]> {
  const build = await describeCheckout(foreign);
  const ffmpeg = foreign?.files.ffmpeg ?? (await programFiles("")).ffmpeg;
  const report = foreign?.ffmpeg ?? (await askFfmpeg(ffmpeg));
  const sha256 = await digestFile(ffmpeg, "sha256").catch(() => "unknown");
  const isOwn = await isOwnFfmpeg(sha256, build.target.replace("linux-", ""));
  return [
    ...nativeNotices(build).toSpliced(4, 0, ffmpegNotice(build, report, { sha256, isOwn })),
    ...modelNotices(build),
    ...packageNotices(),
  ];
}

function nativeNotices({ bun, whisperCpp, onnxRuntime }: BuildInfo): Notice[] {
  return [
    {
      name: "Bun",
      version: bun,
      licence: "MIT, with parts under others, among them JavaScriptCore under LGPL-2.0",
      source: "https://github.com/oven-sh/bun, https://github.com/oven-sh/WebKit",
      // Bun's npm packages contain no licence; its documentation, which the types' package contains, does.
      text: licences("node_modules/bun-types/docs/project/license.mdx", "mit", "lgpl-2.0", "lgpl-2.1"),
    },
    {
      name: "whisper.cpp and ggml",
      version: whisperCpp,
      licence: "MIT",
      source:
        "https://github.com/ggml-org/whisper.cpp; what is changed in it is in native/patches and native/src of this product",
      text: `${read(join("node_modules", UPSTREAM.package, UPSTREAM.tree, "LICENSE"))}\n\nThe addon is compiled with node-addon-api and node-api-headers:\n\n${licences("node_modules/node-addon-api/LICENSE.md", "node_modules/node-api-headers/LICENSE")}`,
    },
    // The headers whose classes are compiled into the Vulkan backend.
    {
      name: "Vulkan-Headers and SPIRV-Headers",
      version: "1.4.309",
      licence: "Apache-2.0 AND MIT",
      source: "https://github.com/KhronosGroup/Vulkan-Headers, https://github.com/KhronosGroup/SPIRV-Headers",
      text: `Copyright 2014-2025 The Khronos Group Inc.\n\n${licences("apache-2.0", "mit")}`,
    },
    {
      name: "ONNX Runtime",
      version: onnxRuntime,
      licence: "MIT",
      source: "https://github.com/microsoft/onnxruntime",
      text: licences("onnxruntime", "onnxruntime-third-party"),
    },
    // The decoder in the launcher. Its licence offers the choice between BSD and GPL.
    {
      ...{ name: zstdSource.name, version: zstdSource.version },
      licence: "BSD-3-Clause",
      source: "https://github.com/facebook/zstd",
      text: `The decoder is linked into the launcher, which unpacks the program. It was compiled without changes from the source
archive of Debian's package, ${basename(zstdSource.path)}, SHA-256 ${zstdSource.sha256}.

${licences("zstd")}`,
    },
    {
      name: "GNU C Library",
      version: "2, linked into ffmpeg, into the program that confines it and into the launcher",
      licence: "LGPL-2.1-or-later",
      source:
        "https://sourceware.org/glibc; the sources of these programs, to link them again, are in .ffmpeg-source.tar, native/confine and native/launcher of this product",
      text: `The GNU C Library is copyright the Free Software Foundation, Inc. and others.\n\n${licences("lgpl-2.1")}`,
    },
  ];
}

function modelNotices(build: BuildInfo): Notice[] {
  return Object.values(builtInModels).map(({ id, file, title, licence, homepage }) => ({
    ...{ name: title, licence, source: homepage },
    version: `SHA-256 ${build.models.find((model) => model.file === file)?.sha256}`,
    text: read(`models/licences/${id}.txt`),
  }));
}

/** Returns licence texts one after another: files of the folder licences by their names, others by their paths. */
function licences(...names: readonly string[]): string {
  return names.map((name) => read(name.includes("/") ? name : `licences/${name}.txt`)).join("\n\n");
}

function read(path: string): string {
  return readFileSync(join(root, path), "utf8").trim();
}
