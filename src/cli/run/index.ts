export { runCommand } from "./command.ts";
