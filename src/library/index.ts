export { removeAccount } from "./account-removal.ts";
export { Library } from "./library.ts";
export { LibraryError, type Refusal, type RerunRefusal } from "./library-error.ts";
export { finishRemovals } from "./removal.ts";
export { applyRetention } from "./retention.ts";
export { type Application, auditorOf, type Operator, type Person, type Viewer } from "./viewer.ts";
