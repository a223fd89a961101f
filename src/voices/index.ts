/**
 * Voices that are known again: speakers of later recordings get a name proposed if their voice resembles one that the
 * account remembers. An account has to opt in; without that, no voice is stored.
 */
export { knowsVoices, removeOptedOut, switchVoices } from "./opt-in.ts";
export { type ProposalLimits, proposalLimits, proposeVoices, similarityOf } from "./propose.ts";
export { type SpeakerVoice, storeSpeakerVoices } from "./speaker-voices.ts";
export { isVoiceName, MAX_NAME_CHARACTERS, MAX_VOICES, type SpeakerState, type Voice, Voices } from "./voices.ts";
export { type VoiceRefusal, VoicesError } from "./voices-error.ts";
