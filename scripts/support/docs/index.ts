import { join } from "node:path";
import { root } from "../checkout.ts";
import { cliPage } from "./cli-page.ts";
import { troubleshootingPage } from "./troubleshooting-page.ts";

await Bun.write(join(root, "docs/cli.md"), cliPage());
const troubleshooting = Bun.file(join(root, "docs/troubleshooting.md"));
await troubleshooting.write(troubleshootingPage(await troubleshooting.text()));
