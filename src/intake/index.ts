export type { CreatePlace } from "./create-limits.ts";
export type { SourceFile } from "./examine-recording.ts";
export { type IntakeServices, RecordingIntake, type Source, type Submission } from "./intake.ts";
export { type AccountTrouble, IntakeError, type IntakeRefusal } from "./intake-error.ts";
export { accountTrouble, requireActive, type Sender } from "./sender.ts";
export type { UploadReservation } from "./upload-space.ts";
