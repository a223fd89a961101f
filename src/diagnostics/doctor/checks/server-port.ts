import { createServer } from "node:net";
import { type Check, type Finding, ok, problem } from "../check.ts";

export const serverPort: Check = {
  id: "server.port",
  title: "Port",
  explanation:
    "Whether the address that the settings name can be listened on: the host belongs to this machine, the port is free or held by this very server, and the user may use it (ports below 1024 need a right of their own).",
  async run({ settings, server }): Promise<Finding> {
    const { host, port } = settings.server;
    const where = `${host}, port ${port}`;
    if (port === 0) return ok("any free port, as server.port says");
    if (server !== null && new URL(server.origin).port === String(port)) return ok(`${where}: held by this server`);
    const fault = await faultOfListening(host, port);
    switch (fault) {
      case null:
        return ok(`${where}: free`);
      case "EADDRINUSE":
        return problem(`${where} is taken by ${await holderOf(port)}`, {
          advice: `Find it with "ss -ltnp 'sport = :${port}'" and stop it, or give this server another port (server.port).`,
        });
      case "EADDRNOTAVAIL":
      case "ENOTFOUND":
        return problem(`${host} is no address of this machine`, {
          advice:
            "Set server.host to 127.0.0.1, to 0.0.0.0 for all networks, or to an address that `ip address` shows.",
        });
      case "EACCES":
      case "EPERM":
        return problem(`this user may not listen on port ${port}`, {
          advice:
            "Take a port from 1024 on. A service gets the right by AmbientCapabilities=CAP_NET_BIND_SERVICE; a proxy in front needs none here.",
        });
      default:
        return problem(`${where} can't be listened on (${fault})`, { advice: "Check server.host and server.port." });
    }
  },
};

/**
 * Listens on a port for a moment.
 * @returns the system's error code, or its message; null if listening works
 */
function faultOfListening(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const trial = createServer();
    trial.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    trial.listen({ host, port, exclusive: true }, () => trial.close(() => resolve(null)));
  });
}

async function holderOf(port: number): Promise<string> {
  const signal = AbortSignal.timeout(2000);
  const answer = await fetch(`http://127.0.0.1:${port}/healthz`, { signal }).catch(() => null);
  const text = answer?.ok === true ? await answer.text().catch(() => "") : "";
  return text.includes('"alive"') ? "another transcribe server, with another data directory" : "another program";
}
