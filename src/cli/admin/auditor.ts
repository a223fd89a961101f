import { userInfo } from "node:os";
import type { Auditor } from "../../accounts/index.ts";

/** Looked up at the start: root becomes another user once it opens the database. */
const operator = userInfo();

/** Whoever runs this command, now. A user without a name on this machine goes by number. */
export function auditor(): Auditor {
  const { username, uid } = operator;
  return { actor: username === "" || username === "unknown" ? `uid ${uid}` : username, now: Date.now() };
}
