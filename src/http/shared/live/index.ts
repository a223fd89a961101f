export { acceptLiveSession, type LiveServices, openSession } from "./accept-session.ts";
export { closeCodes, GuardedSocket, type LiveProtocol } from "./guarded-socket.ts";
export { DEFAULT_TURNS, liveQuery } from "./live-options.ts";
export { liveRefusalToApiError } from "./live-refusal.ts";
export { liveSenderOf } from "./live-sender.ts";
export { SampleAligner } from "./sample-aligner.ts";
