export { Transcript, type TranscriptActions } from "./transcript.tsx";
