export { acceptLiveSession, type LiveServices } from "./accept-session.ts";
export { liveQuery } from "./live-options.ts";
export { liveRefusalToApiError } from "./live-refusal.ts";
