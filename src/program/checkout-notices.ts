import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { BuildInfo } from "./build-info.ts";
import { builtInModels } from "./built-in-models.ts";
import { checkout } from "./checkout.ts";
import { checkoutFiles } from "./checkout-files.ts";
import { describeCheckout, type ForeignParts, whisperCppSource } from "./describe-checkout.ts";
import { digestFile } from "./digest-file.ts";
import { ffmpegNotice } from "./ffmpeg-notice.ts";
import { askFfmpeg } from "./ffmpeg-words.ts";
import type { Notice } from "./notices.ts";
import { packageNotices } from "./package-notices.ts";

/**
 * Returns the notices of all components of a program compiled from this checkout.
 * @throws Error when a package has no licence text
 */
export async function checkoutNotices(foreign?: ForeignParts): Promise<Notice[]> {
  const build = await describeCheckout(foreign);
  return [
    bunNotice(build),
    whisperCppNotice(build),
    vulkanHeadersNotice(),
    onnxRuntimeNotice(build),
    await ffmpegNoticeOf(build, foreign),
    cLibraryNotice(),
    ...modelNotices(build),
    ...packageNotices(),
  ];
}

async function ffmpegNoticeOf(build: BuildInfo, foreign: ForeignParts | undefined): Promise<Notice> {
  const path = foreign?.ffmpegPath ?? checkoutFiles.ffmpeg;
  const sha256 = await digestFile(path, "sha256").catch(() => "unknown");
  return ffmpegNotice(build, foreign?.ffmpeg ?? (await askFfmpeg(path)), sha256);
}

/**
 * Returns Bun's notice. Bun's npm packages contain no licence; its documentation, which the types' package contains,
 * does.
 */
function bunNotice({ bun }: BuildInfo): Notice {
  const texts = ["node_modules/bun-types/docs/project/license.mdx", "licences/mit.txt", "licences/lgpl-2.0.txt"];
  return {
    name: "Bun",
    version: bun,
    licence: "MIT, with parts under others, among them JavaScriptCore under LGPL-2.0",
    source: "https://github.com/oven-sh/bun, https://github.com/oven-sh/WebKit",
    text: [...texts, "licences/lgpl-2.1.txt"].map(read).join("\n\n"),
  };
}

function whisperCppNotice({ whisperCpp }: BuildInfo): Notice {
  return {
    name: "whisper.cpp and ggml",
    version: whisperCpp,
    licence: "MIT",
    source: "https://github.com/ggml-org/whisper.cpp; what is changed in it is in native/patches of this product",
    text: `${read(whisperCppSource("LICENSE"))}\n\nThe addon is compiled with node-addon-api and node-api-headers:\n\n${read("node_modules/node-addon-api/LICENSE.md")}\n\n${read("node_modules/node-api-headers/LICENSE")}`,
  };
}

/** Returns the notice of the headers whose classes are compiled into the Vulkan backend. */
function vulkanHeadersNotice(): Notice {
  return {
    name: "Vulkan-Headers and SPIRV-Headers",
    version: "1.4.309",
    licence: "Apache-2.0 AND MIT",
    source: "https://github.com/KhronosGroup/Vulkan-Headers, https://github.com/KhronosGroup/SPIRV-Headers",
    text: `Copyright 2014-2025 The Khronos Group Inc.\n\n${["licences/apache-2.0.txt", "licences/mit.txt"].map(read).join("\n\n")}`,
  };
}

function onnxRuntimeNotice({ onnxRuntime }: BuildInfo): Notice {
  return {
    name: "ONNX Runtime",
    version: onnxRuntime,
    licence: "MIT",
    source: "https://github.com/microsoft/onnxruntime",
    text: `${read("licences/onnxruntime.txt")}\n\n${read("licences/onnxruntime-third-party.txt")}`,
  };
}

/**
 * Returns glibc's notice. Only the program that confines ffmpeg links it statically; all else uses the machine's own.
 */
function cLibraryNotice(): Notice {
  return {
    name: "GNU C Library",
    version: "2, linked into the program that confines ffmpeg",
    licence: "LGPL-2.1-or-later",
    source:
      "https://sourceware.org/glibc; that program's source, to link it again, is in native/confine of this product",
    text: `The GNU C Library is copyright the Free Software Foundation, Inc. and others.\n\n${read("licences/lgpl-2.1.txt")}`,
  };
}

function modelNotices(build: BuildInfo): Notice[] {
  return Object.values(builtInModels).map(({ id, file, title, licence, homepage }) => ({
    ...{ name: title, licence, source: homepage },
    version: `SHA-256 ${build.models.find((model) => model.file === file)?.sha256}`,
    text: read(`models/licences/${id}.txt`),
  }));
}

function read(path: string): string {
  return readFileSync(join(checkout, path), "utf8").trim();
}
