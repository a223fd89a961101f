/**
 * `scripts/conformance [OPTION…] [-- OPTION…]` tests the running server against its own API description with Schemathesis: no 5xx,
 * no undocumented status, body or header, and 405 with Allow for every other method. Options are passed to
 * `schemathesis run`, e.g. `--max-examples 500 --seed 7`. Then slowhttptest attacks the server with slow headers,
 * bodies and reads.
 */
import { checkConformance } from "./check-conformance.ts";
import { checkSlowClients } from "./check-slow-clients.ts";

const outcomes = [
  await checkConformance(process.argv.slice(2).filter((arg) => arg !== "--")),
  await checkSlowClients(),
];
process.exitCode = outcomes.includes("failed") ? 1 : 0;
