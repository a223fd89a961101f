export { completionCommand } from "./command.ts";
