/** Decodes argv[2] to argv[3] and says when it has begun: a server to be killed in the middle of a decode. */
import { decodeRecording } from "../../src/media/index.ts";
import { FFMPEG } from "./support.ts";

const [inputPath = "", outputPath = ""] = process.argv.slice(2);
await decodeRecording({
  ffmpegPath: FFMPEG,
  inputPath,
  outputPath,
  maxSeconds: 64_800,
  onProgress: () => console.log("decoding"),
});
