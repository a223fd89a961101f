export { BROKER_ID, BrokerRegister } from "./broker-register.ts";
export { answerConfirmationRequests, requestConfirmation } from "./confirmation-requests.ts";
export { holderOf } from "./directory-identity.ts";
export { untilPromoted } from "./end-standby.ts";
export { readServing, storeServing } from "./epoch.ts";
export { FolderRegister } from "./folder-register.ts";
export { type LeaseClock, ReplacedError, ServingLease, StillServesError } from "./lease.ts";
export { FenceError, type LeaseRecord, type LeaseRegister } from "./lease-record.ts";
export { type Promotion, promote } from "./promote.ts";
