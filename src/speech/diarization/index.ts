/**
 * Speaker diarization. The segmentation model finds, window by window, when up to three people speak. An embedding
 * model distinguishes their voices. Clustering identifies the speakers across the whole recording.
 *
 * Run `detectBlock` for each block, then `speechRegions`; `embedBlock` for each block, then `cluster`. Once the
 * sentences are known, run `embedSentences` on some at a time, then `speakersByVoice`. Blocks are independent of each
 * other.
 */

export { packChunks } from "../plan-chunks.ts";
export { cluster } from "./cluster.ts";
export { detectBlock } from "./detect-block.ts";
export { embedBlock } from "./embed-block.ts";
export { embedSentences } from "./embed-sentences.ts";
export { detectSpeech, embedSpeech } from "./live-speech.ts";
export { type DiarizationModels, embed, openDiarizationModels, type SpeakerModelAddon, segment } from "./models.ts";

export { readPcm } from "./read-pcm.ts";
export { drySpeech } from "./reverberation.ts";
export { speakersByVoice, writeSentenceVoices } from "./sentence-voices.ts";
export { minSimilarity } from "./similarity.ts";
export { speakerVoices } from "./speaker-voices.ts";
export { knownSpeech, speechRegions } from "./speech-regions.ts";
export { maxPauses } from "./turns.ts";
