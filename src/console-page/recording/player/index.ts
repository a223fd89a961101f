export { type Playback, usePlayback } from "./playback.ts";
export { Player } from "./player.tsx";
