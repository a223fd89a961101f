export { requireHost, writeCertificateFolders } from "./certificate-folder.ts";
export { readCredentials, StandbyError } from "./credentials.ts";
export { listenForStandbys } from "./listener.ts";
export { type SourceStatus, StandbySource } from "./source.ts";
export { prepareStandby, Standby } from "./standby.ts";
export { readCurrentStatus, readStatus, type StandbyStatus, writeStatus } from "./status-file.ts";
