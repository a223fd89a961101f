export { acceptLiveSession, type LiveServices } from "./accept-session.ts";
export { liveRefusalToApiError } from "./live-refusal.ts";
