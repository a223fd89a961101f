export { deliver } from "./deliver.ts";
export { AuditForwarder } from "./forwarder.ts";
export { pendingEntries as pendingAuditEntries, readPosition as confirmedAuditPosition } from "./position.ts";
export { SyslogTargetError, syslogTarget } from "./target.ts";
