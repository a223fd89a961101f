export { FrameLevels } from "./frame-levels.ts";
export { SessionFile } from "./session-file.ts";
export { durationOf, SoundConverter } from "./sound-converter.ts";
export { writeWaveFile } from "./wave-file.ts";
