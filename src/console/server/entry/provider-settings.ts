import { createHash } from "node:crypto";
import { readSecretFile, type Settings } from "../../../config/index.ts";

export type ProviderSettings = Settings["oidc"];

/** Host names of this machine itself. Requests to them cannot be read on a network. */
const loopbackHosts: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];

/**
 * Checks the issuer of a sign-in provider; an empty one means that there is none.
 * @throws {Error} that names the fault
 */
export function checkIssuer(issuer: string): void {
  if (issuer === "") return;
  const url = URL.parse(issuer);
  if (url === null || url.search !== "" || url.hash !== "" || url.username !== "" || url.password !== "") {
    throw new Error("write the issuer's address as the provider shows it, e.g. https://login.example.org/realms/main");
  }
  if (issuer.includes("/.well-known/")) throw new Error("write the issuer alone, without /.well-known/…");
  if (url.protocol === "https:") return;
  if (url.protocol === "http:" && loopbackHosts.includes(url.hostname)) return;
  throw new Error("the issuer must have an https address: over plain HTTP, others could sign in as anybody");
}

/**
 * Reads the secret of the server as a client of the provider; null for a public client.
 * @throws {SecretFileError}
 */
export function readClientSecret(file: string): string | null {
  return readSecretFile(file, "the client's secret");
}

/** Returns the name of the provider for people; null if the settings have none. */
export function providerName({ issuer, name }: Pick<ProviderSettings, "issuer" | "name">): string | null {
  if (issuer === "") return null;
  return name === "" ? (URL.parse(issuer)?.host ?? issuer) : name;
}

/**
 * Returns a hash of the settings that decide who gets in, and as what. A session stores it: when it differs, the session
 * ends. The groups of a person are not stored, so the rules cannot be applied again without another sign-in.
 */
export function rulesMark({ issuer, client_id, groups_claim, rules }: ProviderSettings): string {
  return createHash("sha256")
    .update(JSON.stringify([issuer, client_id, groups_claim, rules]))
    .digest("hex");
}
