export { findSupervisor, type ReadStanding, Supervisor } from "./supervisor.ts";
