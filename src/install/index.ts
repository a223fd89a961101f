export { installSteps, serviceSettings } from "./install.ts";
export {
  checkPath,
  defaultConfigFile,
  defaultDataDirectory,
  defaultUser,
  packagePaths,
  reach,
  ServiceError,
  type ServiceRole,
  serviceNames,
  servicePaths,
} from "./layout.ts";
export { thisMachine } from "./machine.ts";
export { reloadUnits, restartService, unitState } from "./manager.ts";
export { packageSteps } from "./package-steps.ts";
export { readStatus, type ServiceStatus } from "./status.ts";
export { runSteps, type StepReport } from "./steps.ts";
export { findSupervisor } from "./supervisor.ts";
export { uninstallSteps } from "./uninstall.ts";
export { installedService, serviceGroups } from "./unit.ts";
