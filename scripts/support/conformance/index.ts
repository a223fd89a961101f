/**
 * `scripts/conformance [OPTION…]` holds the running server against its own API description with Schemathesis: no 5xx, no
 * undocumented status, no body or header of another form, every other method 405 with Allow. Options go to
 * `schemathesis run`, e.g. `--max-examples 500 --seed 7`. Afterwards slowhttptest attacks it with slow headers, bodies and reads.
 */
import { checkConformance } from "./check-conformance.ts";
import { checkSlowClients } from "./check-slow-clients.ts";

const outcomes = [await checkConformance(process.argv.slice(2)), await checkSlowClients()];
process.exitCode = outcomes.includes("failed") ? 1 : 0;
