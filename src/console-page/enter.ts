import type { Session } from "../console/contract.ts";
import { ask } from "./server.ts";

/**
 * Signs in by the link that `transcribe console` prints, where the address is one. Its token stands behind `#`, where no
 * log sees it, and is taken out of the address before it is sent.
 * @returns null where the address is no such link
 */
export async function enterByLink(): Promise<Session | null> {
  const token = /^#enter=(.+)$/.exec(location.hash)?.[1];
  if (token === undefined) return null;
  history.replaceState(null, "", "#/");
  return await ask<Session>("session", { method: "POST", body: { token } });
}

/** Signs in by the operator's password. @throws {Refusal} */
export async function enterByPassword(password: string): Promise<Session> {
  return await ask<Session>("session", { method: "POST", body: { password } });
}
