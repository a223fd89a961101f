/**
 * `scripts/conformance [OPTION…]` holds the running server against its own API description with Schemathesis: no 5xx, no
 * undocumented status, no body or header of another form, every other method 405 with Allow. Options go to
 * `schemathesis run`, e.g. `--max-examples 500 --seed 7`.
 */
import { checkConformance } from "./check-conformance.ts";

const outcome = await checkConformance(process.argv.slice(2));
process.exitCode = outcome === "failed" ? 1 : 0;
