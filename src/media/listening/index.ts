export { makeListeningCopy, roomForListening } from "./make-listening-copy.ts";
export { readWaveform } from "./waveform.ts";
