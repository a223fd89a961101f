/** The recordings with their references, and the field's own tools that they are scored with. */
export { concatenate, type Excerpt, makeSilence, mix, type Part, repeat, type Sound, samplesOf } from "./audio.ts";
export { installBleu } from "./bleu.ts";
export { fasterWhisperVersion, installFasterWhisper } from "./faster-whisper.ts";
export { installLivePeers, type LivePeer, livePeers } from "./live-peers.ts";
export { type Group, type Reference, readCorpus, recordingsWithoutSpeech, type SpokenTurn } from "./references.ts";
export { type RoomMeeting, type RoomPart, roomMeetings, roomParts } from "./rooms.ts";
export { installScorer, type Normalise, type Scoring } from "./scorer.ts";
export { corpusOption, hasCorpus, readSelected, requireCorpus, selectorOf } from "./selection.ts";
export { errorsBetween, errorsIn, isByCharacter, type Rate, sum, unitsOf } from "./word-errors.ts";
