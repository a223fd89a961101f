import { join } from "node:path";
import { exampleFile, settingsPage } from "../../../src/config/index.ts";
import { root } from "../checkout.ts";
import { cliPage } from "./cli-page.ts";
import { troubleshootingPage } from "./troubleshooting-page.ts";

await Bun.write(join(root, "docs/cli.md"), cliPage());
await Bun.write(join(root, "docs/settings.md"), settingsPage());
await Bun.write(join(root, "docs/transcribe.example.toml"), exampleFile());
const troubleshooting = Bun.file(join(root, "docs/troubleshooting.md"));
await troubleshooting.write(troubleshootingPage(await troubleshooting.text()));
