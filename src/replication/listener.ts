import { createServer, type TLSSocket } from "node:tls";
import { isDeepStrictEqual } from "node:util";
import { formatAddressWithPort, parseAddressWithPort } from "../addresses/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { messageOf } from "../text/index.ts";
import type { StandbyCredentials } from "./credentials.ts";

/** Maximum number of connections, of which one at a time is a standby's. */
const MAX_CONNECTIONS = 64;
const HANDSHAKE_MILLISECONDS = 10_000;

export interface ListenOptions {
  /** Address to listen on, HOST:PORT. */
  readonly address: string;
  /** Reads the credentials. */
  readonly credentials: () => StandbyCredentials;
  readonly log: Logger;
  /** Serves a standby until its connection ends. */
  readonly onStandby: (socket: TLSSocket, name: string) => void;
}

/** Accepts standbys whose certificate is of the authority. @throws {StandbyError} for credentials that can't be used */
export async function listenForStandbys({ address, credentials, log, onStandby }: ListenOptions) {
  const { host, port } = parseAddressWithPort(address, "0.0.0.0:8788 or [::]:8788");
  let current = credentials();
  let refusal = "";
  const server = createServer({ ...contextOf(current), handshakeTimeout: HANDSHAKE_MILLISECONDS }, (socket) => {
    socket.on("error", () => {});
    const name = socket.authorized ? nameOf(socket) : null;
    if (name === null) return void socket.destroy();
    socket.setNoDelay(true);
    onStandby(socket, name);
  });
  server.maxConnections = MAX_CONNECTIONS;
  server.on("tlsClientError", (error: Error, socket: TLSSocket) => {
    log.warn({ event: "standby.refused", trouble: error.message });
    // Bun leaves it open.
    socket.destroy();
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => resolve());
  });
  const bound = server.address();
  const actual = { host, port: typeof bound === "object" && bound !== null ? bound.port : port };
  return {
    address: formatAddressWithPort(actual),
    port: actual.port,
    /** Reads the credentials again. Renewed ones count from the next connection on, unless they can't be used. */
    renew(): void {
      try {
        const renewed = credentials();
        refusal = "";
        if (isDeepStrictEqual(renewed, current)) return;
        server.setSecureContext(contextOf(renewed));
        current = renewed;
        log.info({ event: "standby.certificate_renewed" });
      } catch (error) {
        // A renewal writes the files one after the other, so they may not match for a moment.
        const trouble = messageOf(error);
        if (trouble !== refusal) log.error({ event: "standby.certificate_refused", trouble });
        refusal = trouble;
      }
    },
    close: () => server.close(),
  };
}

function contextOf({ authority, certificate, key }: StandbyCredentials) {
  const minVersion = "TLSv1.3" as const;
  return { ca: authority, cert: certificate, key, requestCert: true, rejectUnauthorized: true, minVersion };
}

/** Returns the common name of a certificate; null if it is no name of a machine. */
function nameOf(socket: TLSSocket): string | null {
  const name = socket.getPeerCertificate()?.subject?.CN;
  return typeof name === "string" && /^[A-Za-z0-9._:-]{1,253}$/.test(name) ? name : null;
}
