export { type AccountLimits, formatAccountLimits, limitNames, parseAccountLimits } from "./limits.ts";
export { createWindows, Usage, type WindowState } from "./usage.ts";
