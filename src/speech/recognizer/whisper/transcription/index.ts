/** The words of a chunk: what whisper writes, listened to again where it is to be doubted, without what nobody said. */
export { transcribeChunk } from "./transcribe-chunk.ts";
