export { ProgressBoard, type ProgressRow } from "./board.ts";
export { type ScreenStream, terminalKind } from "./terminal.ts";
