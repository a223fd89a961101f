import { join } from "node:path";
import { checkout } from "./checkout.ts";
import { below, type ProgramFiles, unpackedLayout } from "./layout.ts";

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
