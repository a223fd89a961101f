import { userInfo } from "node:os";
import type { Auditor } from "../accounts/index.ts";

/** Whoever runs this command, now. */
export function auditor(): Auditor {
  return { actor: userInfo().username, now: Date.now() };
}
