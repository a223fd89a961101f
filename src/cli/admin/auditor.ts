import { userInfo } from "node:os";
import type { Auditor } from "../../accounts/index.ts";

/** Whoever runs this command, now. A user without a name on this machine goes by number. */
export function auditor(): Auditor {
  const { username, uid } = userInfo();
  return { actor: username === "" || username === "unknown" ? `uid ${uid}` : username, now: Date.now() };
}
