export { BROKER_ID, BrokerRegister } from "./broker-register.ts";
export { holderOf } from "./directory-identity.ts";
export { readServing, storeServing } from "./epoch.ts";
export { FolderRegister } from "./folder-register.ts";
export { ReplacedError, ServingLease } from "./lease.ts";
export { FenceError, type LeaseRecord, type LeaseRegister } from "./lease-record.ts";
export { type LeaseClock, StillServesError } from "./lease-watch.ts";
export { type Promotion, promote } from "./promote.ts";
