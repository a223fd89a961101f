import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { bashScript, zshScript } from "../../../src/cli/completion/bash-and-zsh.ts";
import { fishScript } from "../../../src/cli/completion/fish.ts";
import { completionPlaces } from "../../../src/cli/completion/places.ts";
import { cliProgram } from "../../../src/cli/index.ts";
import { exampleFile } from "../../../src/config/index.ts";
import { defaultConfigFile, defaultDataDirectory, packagePaths } from "../../../src/install/layout.ts";
import { packageUnit } from "../../../src/install/unit.ts";
import { root } from "../../shared/checkout.ts";
import { type PackagedProgram, type PackageFacts, type PackageFile, readableFile } from "./facts.ts";
import { manPage } from "./man-page.ts";

const places = completionPlaces(await cliProgram());

/** Directory of the documentation on the machine. */
export const DOCUMENTS = "/usr/share/doc/transcribe";
/** Best compression. The header has no time and no name. */
const GZIP_LEVEL = 9;

/**
 * Returns the files that every package contains: the program, its unit and settings, shell completion and documentation.
 * @param zshFunctions directory of completion functions that the distribution's zsh reads
 */
export function sharedFiles(facts: PackageFacts, program: PackagedProgram, zshFunctions: string): PackageFile[] {
  const day = new Date(facts.epoch * 1000).toISOString().slice(0, 10);
  const settings = readableFile(
    defaultConfigFile,
    settingsFile(defaultDataDirectory, packagePaths.runtimeDirectory),
    "settings",
  );
  return [
    { path: packagePaths.program, mode: 0o755, kind: "plain", content: Bun.file(program.path) },
    readableFile(packagePaths.unit, packageUnit(), "plain"),
    // Settings may contain a password of a client.
    { ...settings, mode: 0o640 },
    readableFile("/usr/share/bash-completion/completions/transcribe", bashScript(places), "plain"),
    readableFile(`${zshFunctions}/_transcribe`, zshScript(places), "plain"),
    readableFile("/usr/share/fish/vendor_completions.d/transcribe.fish", fishScript(places), "plain"),
    readableFile("/usr/share/man/man1/transcribe.1.gz", compressed(manPage(facts.version, day)), "documentation"),
    readableFile(`${DOCUMENTS}/examples/transcribe.toml`, exampleFile(), "documentation"),
    ...copiedDocuments(),
  ];
}

/** Returns the files that are copied from the checkout: the pages of the documentation, and examples. */
function copiedDocuments(): PackageFile[] {
  const read = (path: string) => new Uint8Array(readFileSync(join(root, path)));
  const document = (path: string, content: Uint8Array) => readableFile(join(DOCUMENTS, path), content, "documentation");
  const pages = readdirSync(join(root, "docs"), { recursive: true })
    .map(String)
    .filter((name) => name.endsWith(".md"));
  return [
    ...pages.map((name) => document(name, read(join("docs", name)))),
    document("CHANGELOG.md.gz", compressed(read("CHANGELOG.md"))),
    document("examples/prometheus-alerts.yml", read("deploy/prometheus-alerts.yml")),
    document("examples/grafana.json", read("deploy/grafana/transcribe.json")),
  ];
}

/** Compresses a text with gzip, always into the same bytes. */
export function compressed(content: string | Uint8Array): Uint8Array {
  return Bun.gzipSync(new Uint8Array(Buffer.from(content)), { level: GZIP_LEVEL });
}

/** Returns the settings file in /etc. It is short, so that new defaults cause no question at an upgrade. */
function settingsFile(dataDirectory: string, runtimeDirectory: string): string {
  return `# Settings of the service. All settings with their defaults are listed in
# /usr/share/doc/transcribe/examples/transcribe.toml
# After a change: transcribe config check /etc/transcribe/transcribe.toml

[storage]
data_dir = ${JSON.stringify(dataDirectory)}
runtime_dir = ${JSON.stringify(runtimeDirectory)}
`;
}
