export {
  type LiveEnd,
  LiveError,
  type LiveEvent,
  type LiveFormat,
  type LiveListener,
  type LiveOptions,
  type LiveRefusal,
  type LiveSegment,
  type LiveSender,
  type LiveSession,
  type LiveSessions,
  type ResumedSession,
  type TurnRules,
} from "./contract.ts";
export { LiveService } from "./service/live-service.ts";
export type { LiveServices } from "./service/services.ts";
export { type LiveText, liveTextOf, wasLive } from "./store/index.ts";
