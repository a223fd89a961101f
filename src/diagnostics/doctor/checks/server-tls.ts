import { readCredentials } from "../../../http/index.ts";
import { messageOf } from "../../../text/index.ts";
import { type Check, ok, problem, skipped, warning } from "../check.ts";

export const serverTls: Check = {
  id: "server.tls",
  title: "Certificate",
  explanation:
    "Where the settings name a certificate and its key: whether both can be read, belong together, and hold for some time yet. Keys that others may read are told of too.",
  run({ settings, machine }) {
    const { host, tls_certificate: certificate, tls_key: key } = settings.server;
    if (certificate === "" && key === "") {
      const isLocal = /^(127\.|::1$|localhost$)/.test(host);
      return skipped(
        isLocal ? "plain HTTP, for this machine alone" : "plain HTTP; put a proxy with TLS in front of it",
      );
    }
    if (certificate === "" || key === "") {
      return problem("server.tls_certificate and server.tls_key go together, and one is missing", {
        advice: "Set both, or none for plain HTTP.",
      });
    }
    try {
      const { leaf, warnings } = readCredentials(certificate, key, machine.now());
      const summary = `${leaf.subjectAltName ?? leaf.subject}, until ${leaf.validTo}`;
      if (warnings.length === 0) return ok(summary);
      return warning(warnings[0] ?? summary, {
        detail: [summary, ...warnings.slice(1)],
        advice: "Renew the certificate, or set the key file's rights to 0600. The server takes new files up by itself.",
      });
    } catch (error) {
      return problem("TLS can't be spoken with the files that the settings name", {
        detail: [messageOf(error)],
        advice: "Mend the files or their paths. A server that runs goes on with the pair that it read before.",
      });
    }
  },
};
