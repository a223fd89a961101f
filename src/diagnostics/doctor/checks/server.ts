import { existsSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { trustOf } from "../../../api-contract/index.ts";
import { isInvalidAnswer, type ProviderFault, probeProvider } from "../../../console/index.ts";
import { readCredentials } from "../../../http/index.ts";
import { messageOf } from "../../../text/index.ts";
import { type Check, type Finding, ok, problem, skipped, warning } from "../check.ts";
import { currentStatus } from "./standby-copy.ts";

const running: Check = {
  id: "server.running",
  title: "Server",
  explanation:
    "Whether a server of this data directory runs, is alive (/healthz) and ready to accept recordings (/readyz). A server that was killed leaves its state file state/server.json behind.",
  async run({ data, paths, server, machine }) {
    const overloaded = "or short of memory or CPU: see its log, and restart it if this continues.";
    if (server === null) {
      const stateFile = join(paths.state, "server.json");
      if (data !== "present" || !existsSync(stateFile)) return skipped("no server uses this data directory");
      const pid = /"pid":\s*(\d+)/.exec(machine.read(stateFile) ?? "")?.[1];
      if (pid !== undefined && /serve|quickstart/.test(machine.read(`/proc/${pid}/cmdline`) ?? "")) {
        return problem(`the server process ${pid} does not answer`, { advice: `It may be starting, ${overloaded}` });
      }
      return warning("no server answers at the last known address; the last server did not shut down cleanly", {
        advice:
          "Start it: transcribe serve, or systemctl start transcribe. `transcribe doctor --fix` removes the old state file.",
        repair: { what: `Remove ${stateFile}`, apply: () => rmSync(stateFile) },
      });
    }
    const { origin, pid } = server;
    try {
      const answer = await fetch(`${origin}/readyz`, { signal: AbortSignal.timeout(5000), ...trustOf(server) });
      if (answer.ok) return ok(`${origin} is ready to accept recordings (process ${pid})`);
      return problem(`${origin} is alive, but not ready to accept recordings`, {
        detail: [(await answer.text()).slice(0, 500)],
        advice: "Right after a start it loads its models: try again in a moment. Otherwise its log has the reason.",
      });
    } catch (error) {
      return problem(`${origin} does not answer within 5 s`, {
        detail: [messageOf(error)],
        advice: `It may be stuck, ${overloaded}`,
      });
    }
  },
};

const live: Check = {
  id: "server.live",
  title: "Live sessions",
  explanation:
    "How many live sessions the running server accepts at the same time: `live.sessions`, or as many as it has measured that this machine serves. It measures when nothing else computes, and again for another speech model. A session more is refused.",
  async run({ settings, server }): Promise<Finding> {
    const { enabled, sessions } = settings.live;
    if (!enabled) return skipped("live.enabled is false");
    if (server === null) return sessions === 0 ? skipped("a running server measures them") : ok(`${sessions} at once`);
    const signal = AbortSignal.timeout(5000);
    const answer = await fetch(`${server.origin}/metrics`, { signal, ...trustOf(server) }).catch(() => null);
    const text = answer?.ok === true ? await answer.text().catch(() => "") : "";
    const places = /^transcribe_live_sessions_places (\d+)$/m.exec(text)?.[1];
    if (places === undefined) return skipped("the server does not show its metrics here");
    return ok(`${places} at once${sessions === 0 ? ", as the server measured" : ""}`);
  },
};

const port: Check = {
  id: "server.port",
  title: "Port",
  explanation:
    "Whether the server can listen on the address in the settings: the host belongs to this machine, the port is free or used by this server, and the user may use it (ports below 1024 need a privilege).",
  async run(context): Promise<Finding> {
    const { settings, server } = context;
    const { host, port } = settings.server;
    const address = `${host}, port ${port}`;
    if (port === 0) return ok("any free port (server.port is 0)");
    if (server !== null && new URL(server.origin).port === String(port)) return ok(`${address}: used by this server`);
    const fault = await tryToListen(host, port);
    switch (fault) {
      case null:
        return ok(`${address}: free`);
      case "EADDRINUSE":
        if ((settings.standby.follow || settings.standby.rejoin) && currentStatus(context)?.role === "standby") {
          return ok(`${address}: used by this server, which follows another one`);
        }
        return problem(`${address} is taken by ${await userOf(port)}`, {
          advice: `Find it with "ss -ltnp 'sport = :${port}'" and stop it, or choose another port (server.port).`,
        });
      case "EADDRNOTAVAIL":
      case "ENOTFOUND":
        return problem(`${host} is not an address of this machine`, {
          advice:
            "Set server.host to 127.0.0.1, to 0.0.0.0 for all networks, or to an address that `ip address` shows.",
        });
      case "EACCES":
      case "EPERM":
        return problem(`this user may not listen on port ${port}`, {
          advice:
            "Choose a port from 1024 on. A service gets the privilege by AmbientCapabilities=CAP_NET_BIND_SERVICE; behind a proxy it is not needed.",
        });
      default:
        return problem(`the server can't listen on ${address} (${fault})`, {
          advice: "Check server.host and server.port.",
        });
    }
  },
};

/** Listens on a port for a moment. @returns the system's error code, or its message; null if listening works */
function tryToListen(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const listener = createServer();
    listener.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    listener.listen({ host, port, exclusive: true }, () => listener.close(() => resolve(null)));
  });
}

async function userOf(port: number): Promise<string> {
  const signal = AbortSignal.timeout(2000);
  const answer = await fetch(`http://127.0.0.1:${port}/healthz`, { signal }).catch(() => null);
  const text = answer?.ok === true ? await answer.text().catch(() => "") : "";
  return text.includes('"alive"') ? "another transcribe server, with another data directory" : "another program";
}

const tls: Check = {
  id: "server.tls",
  title: "Certificate",
  explanation:
    "If the settings have a certificate and a key: whether both can be read, belong together, and remain valid for some time. Keys that other users may read are reported too.",
  run({ settings, machine }) {
    const { host, tls_certificate: certificate, tls_key: key } = settings.server;
    if (certificate === "" && key === "") {
      const isLocal = /^(127\.|::1$|localhost$)/.test(host);
      return skipped(isLocal ? "plain HTTP, only for this machine" : "plain HTTP; put a proxy with TLS in front of it");
    }
    if (certificate === "" || key === "") {
      return problem("only one of server.tls_certificate and server.tls_key is set", {
        advice: "Set both, or none for plain HTTP.",
      });
    }
    try {
      const { leaf, warnings } = readCredentials(certificate, key, machine.now());
      const summary = `${leaf.subjectAltName ?? leaf.subject}, until ${leaf.validTo}`;
      if (warnings.length === 0) return ok(summary);
      return warning(warnings[0] ?? summary, {
        detail: [summary, ...warnings.slice(1)],
        advice: "Renew the certificate, or set the mode of the key file to 0600. The server reloads changed files.",
      });
    } catch (error) {
      return problem("the certificate and key in the settings are unusable", {
        detail: [messageOf(error)],
        advice: "Correct the files or their paths. A running server keeps the last valid pair.",
      });
    }
  },
};

const units = { server: "transcribe.service", worker: "transcribe-worker.service" };

const service: Check = {
  id: "server.service",
  title: "Service",
  explanation:
    "The systemd unit of `transcribe service install`, of the server or of a fleet's worker: whether it is enabled and running, or has failed and why.",
  async run({ machine }) {
    if (!existsSync("/run/systemd/system")) return skipped("this machine does not use systemd");
    // A machine has one of them.
    const unit = machine.list("/etc/systemd/system").includes(units.worker) ? units.worker : units.server;
    const properties = "LoadState,ActiveState,SubState,Result,UnitFileState,NRestarts";
    const answer = await machine.run(["systemctl", "show", unit, `--property=${properties}`]);
    const property = (name: string, otherwise = "?") =>
      new RegExp(`^${name}=(.+)$`, "m").exec(answer?.output ?? "")?.[1] ?? otherwise;
    if (property("LoadState") !== "loaded") {
      return skipped(`there is no ${unit}; \`transcribe service install\` creates it`);
    }
    const active = property("ActiveState", "unknown");
    if (active === "failed") {
      return problem(`${unit} has failed (${property("Result", "unknown")})`, {
        advice: `See the reason: journalctl -u ${unit} -n 50. Then: systemctl restart ${unit}.`,
      });
    }
    const isEnabled = property("UnitFileState");
    const summary = `${unit} is ${active} (${property("SubState")}), ${isEnabled}, restarted ${property("NRestarts", "0")} times`;
    if (active !== "active" && active !== "reloading") {
      return warning(summary, { advice: `Start it: systemctl start ${unit}.` });
    }
    if (isEnabled === "enabled") return ok(summary);
    return warning(summary, { advice: `It will not start with the machine: systemctl enable ${unit}.` });
  },
};

const provider: Check = {
  id: "server.provider",
  title: "Sign-in provider",
  explanation:
    "Whether the OpenID Connect provider of the settings (oidc.issuer) answers with a configuration that a sign-in can use. The client's id and secret are only compared at a sign-in: see `console.provider_failed` in the log.",
  async run({ settings: { console, oidc } }) {
    if (oidc.issuer === "") return skipped("there is no provider (oidc.issuer is not set)");
    if (!console.enabled) return skipped("the console is off (console.enabled)");
    const fault = await probeProvider(oidc);
    if (fault === null) return ok(`${oidc.issuer} answers`);
    const code = [fault.reason || fault.name, ...(fault.status === undefined ? [] : [`HTTP status ${fault.status}`])];
    return problem(`people can't sign in by ${oidc.issuer}`, {
      detail: [code.join(", ")],
      advice: adviceOn(fault),
    });
  },
};

function adviceOn({ name, reason, status }: ProviderFault): string {
  if (name === "SecretFileError") return "Correct the file, which `oidc.client_secret_file` names.";
  if (reason === "OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED") {
    return "Write `oidc.issuer` exactly as the provider's configuration does, with or without the slash at its end.";
  }
  if (status !== undefined || isInvalidAnswer(reason)) {
    return "Something else answers at this address: compare host and path of `oidc.issuer` with the provider's.";
  }
  if (name === "InsecureEndpointError") return "Let the provider publish addresses with https alone.";
  return "Let this machine reach the provider by HTTPS: compare the host, and trust your authority with NODE_EXTRA_CA_CERTS.";
}

export const serverChecks = [running, live, port, tls, provider, service];
