import { userInfo } from "node:os";
import type { Auditor } from "../../accounts/index.ts";

/** User that started the process. Read at startup, because root becomes another user before opening the database. */
const operator = userInfo();

/** Returns the user of this command and the current time. A user without a name on this machine is shown by uid. */
export function auditor(): Auditor {
  const { username, uid } = operator;
  return { actor: username === "" || username === "unknown" ? `uid ${uid}` : username, now: Date.now() };
}
