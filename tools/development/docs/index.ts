import { join } from "node:path";
import { exampleFile, settingsPage } from "../../../src/config/index.ts";
import { root } from "../../shared/checkout.ts";
import { alertRules, chartAlerts, kustomizeAlerts, prometheusRule } from "./alert-rules.ts";
import { chartSchema } from "./chart-values.ts";
import { cliPage, kubernetesPage, metricsPage, nativeReadme, readmePage, troubleshootingPage } from "./pages.ts";

const pages: Readonly<Record<string, (text: string) => string | Promise<string>>> = {
  "docs/cli.md": cliPage,
  "docs/settings.md": () => settingsPage(),
  "docs/transcribe.example.toml": () => exampleFile(),
  "docs/troubleshooting.md": troubleshootingPage,
  "docs/metrics.md": metricsPage,
  "docs/kubernetes.md": kubernetesPage,
  "deploy/helm/transcribe/values.schema.json": () => chartSchema(),
  [chartAlerts]: alertRules,
  [kustomizeAlerts]: prometheusRule,
  "native/README.md": nativeReadme,
  "README.md": async (text) => readmePage(text, await Bun.file(join(root, "docs/architecture.md")).text()),
};
for (const [path, generate] of Object.entries(pages)) {
  const page = Bun.file(join(root, path));
  await page.write(await generate(await page.text()));
}
