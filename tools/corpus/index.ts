/** The recordings next to the checkout with their references, and the field's own tools that they are scored with. */
export { concatenate, makeSilence, type Part, repeat, type Sound, samplesOf } from "./audio.ts";
export { fasterWhisperVersion, installFasterWhisper } from "./faster-whisper.ts";
export {
  corpusOption,
  type Group,
  type Reference,
  readCorpus,
  readSelected,
  recordingsWithoutSpeech,
  requireCorpus,
  type SpokenTurn,
  selectorOf,
} from "./references.ts";
export { installScorer, type Normalise, type Scoring } from "./scorer.ts";
export { errorsBetween, errorsIn, isByCharacter, type Rate, sum, unitsOf } from "./word-errors.ts";
