import { join } from "node:path";
import catalogue from "../../models/catalog.json" with { type: "json" };
import { checkout } from "./own-program.ts";

/** A model that comes with the program. */
interface BuiltInModel {
  readonly id: string;
  readonly file: string;
  /** SHA-256 of the file, hex. */
  readonly sha256: string;
  /** Title for people. */
  readonly title: string;
  readonly licence: string;
  readonly homepage: string;
}

/** The models that come with the program, one of each kind, as marked in the catalogue. */
export const builtInModels: Readonly<Record<"speech" | "segmentation" | "embedding", BuiltInModel>> = {
  speech: builtIn("speech"),
  segmentation: builtIn("segmentation"),
  embedding: builtIn("embedding"),
};

function builtIn(kind: string): BuiltInModel {
  const [model, ...others] = catalogue.models.filter((each) => each.builtIn === true && each.kind === kind);
  const { title, homepage, sha256 } = model ?? {};
  if (
    model === undefined ||
    title === undefined ||
    homepage === undefined ||
    sha256 === undefined ||
    others.length > 0
  ) {
    throw new Error(`models/catalog.json has not one built-in ${kind} model with title, homepage and sha256`);
  }
  return { ...model, title, homepage, sha256 };
}

/** Paths of the parts that are not TypeScript: the addon, ONNX Runtime, ffmpeg and the default models. */
export interface ProgramFiles {
  /** Directory of the addon and its ggml libraries. */
  readonly nativeDirectory: string;
  /** ONNX Runtime's addon; its library is in the same directory. */
  readonly onnxBinding: string;
  readonly ffmpeg: string;
  /** The program that starts ffmpeg confined; it lies next to ffmpeg (src/media/confinement.ts). */
  readonly confine: string;
  readonly speechModel: string;
  readonly segmentationModel: string;
  readonly embeddingModel: string;
  /** Eleven seconds of an inaugural address of 1961, in the public domain, for `bench`. */
  readonly benchRecording: string;
}

/** Paths of the parts below the directory into which a compiled program unpacks them. */
export const unpackedLayout: ProgramFiles = {
  nativeDirectory: "native",
  onnxBinding: "onnxruntime/onnxruntime_binding.node",
  ffmpeg: "ffmpeg/ffmpeg",
  confine: "ffmpeg/confine",
  speechModel: `models/${builtInModels.speech.file}`,
  segmentationModel: `models/${builtInModels.segmentation.file}`,
  embeddingModel: `models/${builtInModels.embedding.file}`,
  benchRecording: "samples/jfk.mp3",
};

/** Paths of the parts that scripts/setup puts into a checkout. */
export const checkoutFiles: ProgramFiles = below(checkout, {
  nativeDirectory: "build/native",
  onnxBinding: join(
    "node_modules/onnxruntime-node/bin/napi-v6",
    `${process.platform}/${process.arch}/onnxruntime_binding.node`,
  ),
  ffmpeg: "build/ffmpeg/ffmpeg",
  confine: "build/ffmpeg/confine",
  speechModel: join("build", unpackedLayout.speechModel),
  segmentationModel: join("build", unpackedLayout.segmentationModel),
  embeddingModel: join("build", unpackedLayout.embeddingModel),
  benchRecording: "build/samples/jfk.mp3",
});

/** Returns a layout with all its paths below a directory. */
export function below(root: string, layout: ProgramFiles): ProgramFiles {
  const paths = Object.entries(layout).map(([name, path]) => [name, join(root, path)]);
  return Object.fromEntries(paths) as Record<keyof ProgramFiles, string>;
}
