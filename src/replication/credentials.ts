import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Settings } from "../config/index.ts";
import { ExpectedError, messageOf } from "../text/index.ts";

/** A setting of the standby, or one of its files, cannot be used. */
export class StandbyError extends ExpectedError {
  override readonly name = "StandbyError";
}

/** Certificates and the key by which a server and its standby know each other, in PEM. */
export interface StandbyCredentials {
  readonly authority: string;
  readonly certificate: string;
  readonly key: string;
}

/** Reads the files of the settings. @throws {StandbyError} */
export function readCredentials(settings: Pick<Settings["standby"], "ca" | "certificate" | "key">): StandbyCredentials {
  const read = (name: keyof typeof settings): string => {
    const path = settings[name];
    if (path === "")
      throw new StandbyError(`standby.${name} is not set; create the files with transcribe standby init`);
    try {
      return readFileSync(path, "utf8");
    } catch (error) {
      throw new StandbyError(`standby.${name}: can't read ${path}: ${messageOf(error)}`);
    }
  };
  const credentials = { authority: read("ca"), certificate: read("certificate"), key: read("key") };
  try {
    const authority = new X509Certificate(credentials.authority);
    const certificate = new X509Certificate(credentials.certificate);
    if (!certificate.checkPrivateKey(createPrivateKey(credentials.key)))
      throw new Error("the key belongs to another one");
    if (!certificate.verify(authority.publicKey)) throw new Error("another authority issued it");
  } catch (error) {
    throw new StandbyError(`standby.certificate can't be used: ${messageOf(error)}`);
  }
  return credentials;
}
