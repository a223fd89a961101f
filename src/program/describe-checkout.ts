import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { BuildInfo } from "./build-info.ts";
import { checkout } from "./checkout.ts";
import { checkoutFiles } from "./checkout-files.ts";
import { digestFile } from "./digest-file.ts";
import { outputOf } from "./output-of.ts";
import { programVersion } from "./version.ts";

/** Describes what a checkout that scripts/setup was run in is made of; `unknown` is what it has not. */
export async function describeCheckout(): Promise<BuildInfo> {
  const { ffmpeg, whisperModel, segmentationModel, embeddingModel } = checkoutFiles;
  const ffmpegSays = await outputOf([ffmpeg, "-hide_banner", "-version"], checkout);
  return {
    version: programVersion,
    commit: await commit(),
    target: `${process.platform}-${process.arch}`,
    bun: Bun.version,
    whisperCpp: match(whisperCppSource("CMakeLists.txt"), /project\("whisper\.cpp" VERSION ([\d.]+)\)/),
    onnxRuntime: match("node_modules/onnxruntime-node/package.json", /"version": "([^"]+)"/),
    ffmpeg: ffmpegSays?.match(/^ffmpeg version (\S+)/)?.[1] ?? "unknown",
    models: await Promise.all(
      [whisperModel, segmentationModel, embeddingModel].map(async (path) => ({
        file: basename(path),
        sha256: await digestFile(path, "sha256").catch(() => "unknown"),
      })),
    ),
  };
}

/** A path in whisper.cpp's sources, relative to the checkout. */
export function whisperCppSource(path: string): string {
  return join("node_modules/nodejs-whisper/cpp/whisper.cpp", path);
}

async function commit(): Promise<string> {
  const head = await outputOf(["git", "rev-parse", "HEAD"], checkout);
  if (head === null) return "unknown";
  const changes = await outputOf(["git", "status", "--porcelain"], checkout);
  return changes === "" ? head : `${head}-changed`;
}

function match(path: string, pattern: RegExp): string {
  try {
    return readFileSync(join(checkout, path), "utf8").match(pattern)?.[1] ?? "unknown";
  } catch {
    return "unknown";
  }
}
