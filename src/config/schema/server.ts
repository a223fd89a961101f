import { group, integer, list, path, text } from "./kinds.ts";

export const server = group("Where the API is served.", {
  host: text({
    default: "127.0.0.1",
    description: "Address to listen on. Loopback by default; 0.0.0.0 takes requests from the network.",
    reload: false,
    env: "TRANSCRIBE_HOST",
    flag: "--host",
  }),
  port: integer({
    default: 8787,
    minimum: 0,
    maximum: 65_535,
    description: "TCP port to listen on; 0 takes any free one.",
    reload: false,
    env: "TRANSCRIBE_PORT",
    flag: "--port",
  }),
  tls_certificate: path({
    default: "",
    description:
      "File with the server's certificate and those that lead to its authority (PEM, the server's own first). The server then speaks HTTPS alone, and takes up a renewed file within a minute or at SIGHUP. Empty: plain HTTP.",
    reload: false,
  }),
  tls_key: path({
    default: "",
    description: "File with the certificate's private key (PEM, not encrypted), readable by the server's user.",
    reload: false,
  }),
  hosts: list({
    default: [],
    description:
      "Host names that clients reach the server by (transcribe.example.org), besides localhost and addresses, which always work, and the names in tls_certificate. A request whose Host header gives another name is refused with 400: a web page could otherwise read answers by pointing its own name here (DNS rebinding).",
    reload: true,
  }),
  trusted_proxies: list({
    default: [],
    description:
      "Addresses and networks (10.0.0.5, 10.0.0.0/24) of the proxies in front of the server: their X-Forwarded-For and X-Forwarded-Proto say who asks. Nobody else's do.",
    reload: true,
  }),
});
