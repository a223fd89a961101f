export { type ListeningRequest, makeListeningCopy, roomForListening } from "./make-listening-copy.ts";
export { readWaveform, type Waveform, type WaveformRange } from "./waveform.ts";
