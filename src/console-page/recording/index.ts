export { RecordingScreen } from "./recording-screen.tsx";
