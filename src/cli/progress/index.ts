export { ProgressBoard, type ProgressRow } from "./board.ts";
export type { ScreenStream } from "./terminal.ts";
