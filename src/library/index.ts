export { MAX_RETENTION_DAYS, type Retention, retentionOf, serverRetention } from "./account-retention.ts";
export { Library } from "./library.ts";
export { LibraryError, type Refusal, type RerunRefusal } from "./library-error.ts";
export type { Reader, ReadLog } from "./read-log.ts";
export { finishRemovals, removeAccount } from "./removal.ts";
export { applyRetention } from "./retention.ts";
export {
  type Application,
  auditorOf,
  type Editor,
  type KeyHolder,
  type Operator,
  type Person,
  type Viewer,
} from "./viewer.ts";
