export { createLogger, type Logger } from "./log.ts";
