export { ListeningCopies, type ListeningOptions } from "./listening-copies.ts";
export type { ListeningState } from "./listening-state.ts";
