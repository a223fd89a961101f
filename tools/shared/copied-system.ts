import { copyFile, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runCommand } from "./run-command.ts";

const DPKG = "var/lib/dpkg";
const CONFIGURE_TIMEOUT_MILLISECONDS = 5 * 60_000;

/** A package of dpkg's list. */
interface InstalledPackage {
  readonly name: string;
  /** The whole paragraph of the list. */
  readonly paragraph: string;
  readonly isRequired: boolean;
  /** Names of alternatives, for each dependency. */
  readonly requires: readonly (readonly string[])[];
  readonly provides: readonly string[];
}

/**
 * Makes a minimal Debian system of this machine's own packages, without a network: copies the files of the required
 * packages, of `packages` and of all that these depend on, and lets dpkg configure them. Files outside packages, users
 * and settings of this machine are not copied.
 * @throws {Error} when a package is not installed here
 */
export async function copySystem(directory: string, packages: readonly string[]): Promise<void> {
  const chosen = closure(parseStatus(await readFile(`/${DPKG}/status`, "utf8")), packages);
  const info = join(directory, DPKG, "info");
  await mkdir(info, { recursive: true });
  const own = new Set(chosen.map(({ name }) => name));
  const paths = new Set(["/bin", "/sbin", "/lib", "/lib64"]);
  for (const file of await readdir(`/${DPKG}/info`)) {
    if (!own.has(file.replace(/(:[a-z0-9]+)?\.[a-z0-9]+$/, ""))) continue;
    await copyFile(`/${DPKG}/info/${file}`, join(info, file));
    if (!file.endsWith(".list")) continue;
    for (const path of (await readFile(`/${DPKG}/info/${file}`, "utf8")).split("\n")) paths.add(path);
  }
  paths.delete("");
  paths.delete("/.");
  for (const name of ["bin", "sbin", "lib", "lib64"]) await mkdir(join(directory, "usr", name), { recursive: true });
  await copyPaths([...paths].sort(), directory);
  await copyFile("/usr/share/base-passwd/passwd.master", join(directory, "etc/passwd"));
  await copyFile("/usr/share/base-passwd/group.master", join(directory, "etc/group"));
  const unpacked = chosen.map(({ paragraph }) => paragraph.replace(/^Status: .*$/m, "Status: install ok unpacked"));
  await writeFile(join(directory, DPKG, "status"), `${unpacked.join("\n\n")}\n`);
  await writeFile(join(directory, DPKG, "available"), "");
  await mkdir(join(directory, DPKG, "updates"), { recursive: true });
  // No script starts a service, and none asks.
  await writeFile(join(directory, "usr/sbin/policy-rc.d"), "#!/bin/sh\nexit 101\n", { mode: 0o755 });
  await runCommand(["unshare", "--mount", "sh", "-euc", configureScript, "sh", directory], {
    timeoutMs: CONFIGURE_TIMEOUT_MILLISECONDS,
  });
}

const configureScript = `
mount -t proc proc "$1/proc"
for device in null:3 zero:5 full:7 random:8 urandom:9; do mknod -m 666 "$1/dev/\${device%:*}" c 1 "\${device#*:}"; done
env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive chroot "$1" dpkg --force-confold --configure -a </dev/null >&2
rm "$1/usr/sbin/policy-rc.d"`;

function parseStatus(text: string): Map<string, InstalledPackage> {
  const found = new Map<string, InstalledPackage>();
  for (const paragraph of text.trim().split(/\n\n+/)) {
    const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(paragraph)?.[1] ?? "";
    if (field("Status") !== "install ok installed") continue;
    const names = (list: string) => list.split(",").map((each) => each.split("|").map(nameOf));
    const requires = [...names(field("Pre-Depends")), ...names(field("Depends"))].filter(([first]) => first !== "");
    found.set(field("Package"), {
      ...{ name: field("Package"), paragraph, requires },
      isRequired: field("Essential") === "yes" || field("Priority") === "required",
      provides: field("Provides").split(",").map(nameOf),
    });
  }
  return found;
}

/** Returns a package's name without its version and architecture. */
function nameOf(text: string): string {
  return /^[^\s:(]*/.exec(text.trim())?.[0] ?? "";
}

function closure(installed: ReadonlyMap<string, InstalledPackage>, wanted: readonly string[]): InstalledPackage[] {
  const providers = new Map(
    [...installed.values()].flatMap((each) => each.provides.map((name) => [name, each] as const)),
  );
  const required = [...installed.values()].filter(({ isRequired }) => isRequired).map(({ name }) => name);
  const chosen = new Set<InstalledPackage>();
  const open = [...required, ...wanted].map((name) => [name]);
  for (let names = open.pop(); names !== undefined; names = open.pop()) {
    const alternatives = names.map((name) => installed.get(name) ?? providers.get(name));
    const found = alternatives.find((each) => each !== undefined);
    if (found === undefined) throw new Error(`${names.join(" | ")} is not installed on this machine`);
    if (chosen.has(found)) continue;
    chosen.add(found);
    open.push(...found.requires.map((each) => [...each]));
  }
  return [...chosen].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Copies files and directories with their owners and modes; directories without their contents. */
async function copyPaths(paths: readonly string[], directory: string): Promise<void> {
  const list = join(directory, "paths");
  await writeFile(list, paths.map((path) => `.${path}`).join("\0"));
  const script =
    'tar -C / --null --no-recursion --ignore-failed-read -cf - -T "$1" 2>/dev/null | tar -C "$2" -xpf -; rm "$1"';
  await runCommand(["sh", "-euc", script, "sh", list, directory]);
}
