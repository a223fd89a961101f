/** A server to be killed during a decode: decodes argv[2] to argv[3] with the ffmpeg argv[4] and prints its start. */
import { decodeRecording } from "../../src/media/index.ts";

const [inputPath = "", outputPath = "", ffmpegPath = ""] = process.argv.slice(2);
await decodeRecording({
  ffmpegPath,
  inputPath,
  outputPath,
  maxSeconds: 64_800,
  onProgress: () => console.log("decoding"),
});
