import { join } from "node:path";
import { exampleFile, settingsPage } from "../../../src/config/index.ts";
import { root } from "../../shared/checkout.ts";
import { cliPage, metricsPage, readmePage, troubleshootingPage } from "./pages.ts";

const pages: Readonly<Record<string, (text: string) => string>> = {
  "cli.md": cliPage,
  "settings.md": () => settingsPage(),
  "transcribe.example.toml": () => exampleFile(),
  "troubleshooting.md": troubleshootingPage,
  "metrics.md": metricsPage,
};
for (const [name, generate] of Object.entries(pages)) {
  const page = Bun.file(join(root, "docs", name));
  await page.write(generate(await page.text()));
}
const readme = Bun.file(join(root, "README.md"));
await readme.write(readmePage(await readme.text(), await Bun.file(join(root, "docs/architecture.md")).text()));
