/**
 * Who speaks when: the segmentation model finds, window by window, where up to three people speak; an embedding model
 * tells their voices apart; clustering finds who is who over the whole recording.
 *
 * Per recording: `detectBlock` for each block, then `speechRegions` and `packChunks`; `embedBlock` for each block, then
 * `cluster`; once the sentences are known, `embedSentences` for some at a time, then `speakersByVoice`. Blocks are independent,
 * so a step can go on after the last block that was done.
 */
export { isWholeBlock } from "./block-file.ts";
export { packChunks } from "./chunks.ts";
export { cluster } from "./cluster.ts";
export { detectBlock, segmentGrid } from "./detect.ts";
export { embedBlock } from "./embed.ts";
export { embedSentences, heardLength } from "./embed-sentences.ts";
export { embed, embedAll, segment } from "./models.ts";
export { onnxLibraryOf } from "./onnx-binding.ts";
export { type DiarizationModels, openDiarizationModels, type SpeakerModelOptions } from "./open-models.ts";
export { PcmReader } from "./pcm.ts";
export { speakersByVoice, writeSentenceVoices } from "./sentence-voices.ts";
export { speechRegions } from "./speech.ts";
