/** Transcription of a chunk: decodes it, decodes doubtful results again and removes hallucinated words. */
export { transcribeChunk } from "./transcribe-chunk.ts";
