import type { Session } from "../console/contract.ts";
import { ask } from "./server.ts";

/**
 * Signs in with the link that `transcribe console` prints, if the page's URL is such a link. The token is in the
 * fragment after `#`, so that no log contains it. It is removed from the URL before it is sent.
 * @returns null if the URL is no sign-in link
 */
export async function enterByLink(): Promise<Session | null> {
  const token = /^#enter=(.+)$/.exec(location.hash)?.[1];
  if (token === undefined) return null;
  history.replaceState(null, "", "#/");
  return await ask<Session>("session", { method: "POST", body: { token } });
}

/**
 * Signs in with the operator's password.
 * @throws {Refusal}
 */
export async function enterByPassword(password: string): Promise<Session> {
  return await ask<Session>("session", { method: "POST", body: { password } });
}
