import { readFileSync } from "node:fs";
import type { Settings } from "../config/index.ts";
import { readCredentials } from "../http/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { messageOf } from "../text/index.ts";
import { StartError } from "./start-error.ts";

type Credentials = ReturnType<typeof readCredentials>;

/** The server's certificate: the current contents of its files or, while these are invalid, the last valid contents. */
export class ServerCertificate {
  readonly #certificatePath: string;
  readonly #keyPath: string;
  readonly #log: Logger;
  readonly #now: () => number;
  #current: Credentials;
  /** Contents of the files at the last check, valid or not. */
  #contents: string;

  /** @throws {StartError} if the files do not allow TLS */
  constructor(settings: Pick<Settings["server"], "tls_certificate" | "tls_key">, log: Logger, now: () => number) {
    this.#certificatePath = settings.tls_certificate;
    this.#keyPath = settings.tls_key;
    this.#log = log;
    this.#now = now;
    this.#contents = this.#read();
    try {
      this.#current = readCredentials(this.#certificatePath, this.#keyPath, now());
    } catch (error) {
      throw new StartError(`server.tls_certificate, server.tls_key: ${messageOf(error)}`);
    }
    this.#logCurrent("tls.certificate_loaded");
  }

  get current(): Credentials {
    return this.#current;
  }

  /** Expiry time in milliseconds since the epoch. */
  get endsAt(): number {
    return Date.parse(this.#current.leaf.validTo);
  }

  /**
   * Reads the files again. A renewal writes them one after the other, so they may not match for a moment. A mismatch is
   * logged once, and the old certificate stays in use until the files match.
   * @returns whether there is a new certificate
   */
  reload(): boolean {
    const contents = this.#read();
    if (contents === this.#contents) return false;
    this.#contents = contents;
    try {
      this.#current = readCredentials(this.#certificatePath, this.#keyPath, this.#now());
    } catch (error) {
      this.#log.error({
        event: "tls.certificate_refused",
        trouble: messageOf(error),
        shown: this.#current.leaf.fingerprint256,
      });
      return false;
    }
    this.#logCurrent("tls.certificate_renewed");
    return true;
  }

  #read(): string {
    return [this.#certificatePath, this.#keyPath].map(textOrError).join("\n");
  }

  #logCurrent(event: string): void {
    const { leaf, warnings } = this.#current;
    const { subjectAltName, validFrom, validTo, fingerprint256 } = leaf;
    this.#log.info({ event, names: subjectAltName, validFrom, validTo, sha256: fingerprint256 });
    for (const warning of warnings) this.#log.warn({ event: "tls.certificate_warning", warning });
  }
}

function textOrError(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    return messageOf(error);
  }
}
