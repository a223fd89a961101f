export { type ChangeGate, mayAcknowledge } from "./change-gate.ts";
export { DiskSpace, type Reservation } from "./disk-space.ts";
export {
  databaseTrouble,
  MachineError,
  type MachineTrouble,
  type MachineTroubleKind,
  machineTrouble,
  machineTroubles,
  probeWriting,
} from "./machine-trouble.ts";
export { NewFile } from "./new-file.ts";
export { WorkReservations } from "./work-reservations.ts";
