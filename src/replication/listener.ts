import { createServer, type TLSSocket } from "node:tls";
import { formatAddressWithPort, parseAddressWithPort } from "../addresses/index.ts";
import type { Logger } from "../telemetry/index.ts";
import type { StandbyCredentials } from "./credentials.ts";

/** Maximum number of connections, of which one at a time is a standby's. */
const MAX_CONNECTIONS = 64;
const HANDSHAKE_MILLISECONDS = 10_000;

export interface ListenOptions {
  /** Address to listen on, HOST:PORT. */
  readonly address: string;
  readonly credentials: StandbyCredentials;
  readonly log: Logger;
  /** Serves a standby until its connection ends. */
  readonly onStandby: (socket: TLSSocket, name: string) => void;
}

/** Accepts standbys whose certificate is of the authority. */
export async function listenForStandbys({ address, credentials, log, onStandby }: ListenOptions) {
  const { host, port } = parseAddressWithPort(address, "0.0.0.0:8788 or [::]:8788");
  const server = createServer(
    {
      ca: credentials.authority,
      cert: credentials.certificate,
      key: credentials.key,
      requestCert: true,
      rejectUnauthorized: true,
      minVersion: "TLSv1.3",
      handshakeTimeout: HANDSHAKE_MILLISECONDS,
    },
    (socket) => {
      socket.on("error", () => {});
      const name = socket.authorized ? nameOf(socket) : null;
      if (name === null) return void socket.destroy();
      socket.setNoDelay(true);
      onStandby(socket, name);
    },
  );
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
    close: () => server.close(),
  };
}

/** Returns the common name of a certificate; null if it is no name of a machine. */
function nameOf(socket: TLSSocket): string | null {
  const name = socket.getPeerCertificate()?.subject?.CN;
  return typeof name === "string" && /^[A-Za-z0-9._:-]{1,253}$/.test(name) ? name : null;
}
