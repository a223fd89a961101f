export { type Appliance, startAppliance } from "./appliance.ts";
export { programFilesFor } from "./program-files-for.ts";
export { baseUrlOf, findRunningServer, type RunningServer } from "./running-server.ts";
export { StartError } from "./start-error.ts";
