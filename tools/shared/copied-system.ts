import { copyFile, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runCommand } from "./run-command.ts";

const DPKG = "var/lib/dpkg";
const CONFIGURE_TIMEOUT_MILLISECONDS = 5 * 60_000;

/**
 * Makes a minimal Debian system of this machine's own packages, without a network: copies the files of the required
 * packages, of `packages` and of all that these depend on, and lets dpkg configure them. Files outside packages, users
 * and settings of this machine are not copied.
 * @throws {Error} when a package is not installed here
 */
export async function copySystem(directory: string, packages: readonly string[]): Promise<void> {
  const chosen = await paragraphsOf(packages);
  const info = join(directory, DPKG, "info");
  await mkdir(info, { recursive: true });
  const paths = new Set(["/bin", "/sbin", "/lib", "/lib64"]);
  for (const file of await readdir(`/${DPKG}/info`)) {
    if (!chosen.has(file.replace(/(:[a-z0-9]+)?\.[a-z0-9]+$/, ""))) continue;
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
  const unpacked = [...chosen.values()].map((paragraph) => {
    return paragraph.replace(/^Status: .*$/m, "Status: install ok unpacked");
  });
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

/** Returns dpkg's paragraphs of the required packages, of some others and of all that these depend on, by their names. */
async function paragraphsOf(packages: readonly string[]): Promise<Map<string, string>> {
  const list = (await readFile(`/${DPKG}/status`, "utf8")).trim().split(/\n\n+/);
  const installed = new Map(
    list
      .filter((paragraph) => /^Status: install ok installed$/m.test(paragraph))
      .map((paragraph) => [/^Package: (.*)$/m.exec(paragraph)?.[1] ?? "", paragraph] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
  const missing = packages.find((name) => !installed.has(name));
  if (missing !== undefined) throw new Error(`${missing} is not installed on this machine`);
  const isRequired = (paragraph: string) => /^(Essential: yes|Priority: required)$/m.test(paragraph);
  const required = [...installed].filter(([, paragraph]) => isRequired(paragraph)).map(([name]) => name);
  const kinds = ["recommends", "suggests", "conflicts", "breaks", "replaces", "enhances"].map((kind) => `--no-${kind}`);
  const command = ["apt-cache", "depends", "--recurse", "--installed", ...kinds, ...required, ...packages];
  // Lines without indentation name packages, also some that only an alternative names.
  const names = new Set((await runCommand(command)).match(/^[a-z0-9][\w.+-]*/gm));
  return new Map([...installed].filter(([name]) => names.has(name)));
}

/** Copies files and directories with their owners and modes; directories without their contents. */
async function copyPaths(paths: readonly string[], directory: string): Promise<void> {
  const list = join(directory, "paths");
  await writeFile(list, paths.map((path) => `.${path}`).join("\0"));
  const script =
    'tar -C / --null --no-recursion --ignore-failed-read -cf - -T "$1" 2>/dev/null | tar -C "$2" -xpf -; rm "$1"';
  await runCommand(["sh", "-euc", script, "sh", list, directory]);
}
