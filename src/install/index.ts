export { installSteps, serviceSettings } from "./install.ts";
export {
  checkPath,
  defaultConfigFile,
  defaultDataDirectory,
  defaultUser,
  places,
  reach,
  type ServiceLayout,
  serviceName,
} from "./layout.ts";
export { type Machine, runTool, textOf } from "./machine.ts";
export { reloadUnits, restartService, unitState } from "./manager.ts";
export { ServiceError } from "./service-error.ts";
export { readStatus, type ServiceStatus } from "./status.ts";
export { type Step, type StepReport, takeSteps } from "./steps.ts";
export { findSupervisor, Supervisor } from "./supervisor.ts";
export { uninstallSteps } from "./uninstall.ts";
export { readUnit, serviceGroups, unitFile } from "./unit.ts";
