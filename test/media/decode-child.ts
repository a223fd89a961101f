/** Decodes argv[2] to argv[3] by the ffmpeg argv[4] and says when it has begun: a server to be killed in the middle of a decode. */
import { decodeRecording } from "../../src/media/index.ts";

const [inputPath = "", outputPath = "", ffmpegPath = ""] = process.argv.slice(2);
await decodeRecording({
  ffmpegPath,
  inputPath,
  outputPath,
  maxSeconds: 64_800,
  onProgress: () => console.log("decoding"),
});
