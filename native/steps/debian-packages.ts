import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runTool } from "./tools.ts";

/** Packages of a Debian release. */
export interface DebianPackages {
  /** A release, for example trixie. */
  readonly suite: string;
  /** A second suite, for example bookworm-backports, whose packages take precedence. */
  readonly preferred?: string;
  /** Package names, with `=VERSION` to pin a version. */
  readonly packages: readonly string[];
  /** Also fetches the libraries that the packages depend on, except those that every program loads. */
  readonly withLibraries?: true;
}

/** Libraries that every program loads. A process must not load a second copy of them. */
const commonLibraries = /^(?:libc6|libgcc-s1|libstdc\+\+6|libcrypt1)$/;

/** Path of the keys that sign Debian's releases. */
const keyring = "/usr/share/keyrings/debian-archive-keyring.gpg";
/** Debian's main archive, used when apt knows no mirror. */
const defaultMirror = "http://deb.debian.org/debian/";

/**
 * Fetches packages with apt from the mirror that this machine uses, and unpacks them into a new directory. It installs
 * nothing, needs no privileges, and reads only the mirror's address and Debian's keys from the system.
 * @throws {Error} with the missing tool or the command that failed
 */
export async function unpackDebianPackages(
  { suite, preferred = suite, packages, withLibraries }: DebianPackages,
  into: string,
  which: (program: string) => string | null = Bun.which,
): Promise<void> {
  for (const tool of ["apt-get", "dpkg-deb"]) {
    if (which(tool) === null) throw new Error(`this is not a Debian system: ${tool} is missing`);
  }
  const work = join(into, ".apt");
  const downloads = join(work, "downloads");
  for (const folder of ["lists/partial", "cache/archives/partial", "downloads"]) {
    await mkdir(join(work, folder), { recursive: true });
  }
  const sources = join(work, "sources.list");
  const from = `deb [signed-by=${keyring}] ${await mirror()}`;
  await writeFile(sources, [...new Set([suite, preferred])].map((each) => `${from} ${each} main\n`).join(""));
  const aptGet = [
    ...["apt-get", "--quiet", "-o", `Dir::Etc::SourceList=${sources}`, "-o", "Dir::Etc::SourceParts=/dev/null"],
    ...["-o", `Dir::State::Lists=${join(work, "lists")}`, "-o", `Dir::Cache=${join(work, "cache")}`],
    ...["-o", "Dir::State::Status=/dev/null", "-o", "APT::Sandbox::User=", "-o", "Acquire::Retries=1"],
    ...["-o", "Acquire::Languages=none", "-o", "Acquire::http::Timeout=20"],
    ...["-o", `APT::Default-Release=${preferred}`],
  ];
  await runTool([...aptGet, "update", "--error-on=any"], () => {});
  const needed = withLibraries ? await librariesOf(aptGet, packages) : [];
  await runTool([...aptGet, "download", ...new Set([...packages, ...needed])], () => {}, downloads);
  for (const name of await readdir(downloads)) {
    await runTool(["dpkg-deb", "--extract", join(downloads, name), into], () => {});
  }
}

async function librariesOf(aptGet: readonly string[], packages: readonly string[]): Promise<string[]> {
  const simulated = [...aptGet, "install", "--simulate", "--no-install-recommends", ...packages];
  const output = await runTool(simulated, () => {});
  const names = [...output.matchAll(/^Inst (lib\S+)/gm)].map((match) => match[1] ?? "");
  return names.filter((name) => !commonLibraries.test(name));
}

/** Returns the mirror of Debian's own packages from this machine's apt configuration, or else the default mirror. */
export async function mirror(): Promise<string> {
  return (await knownMirror("debian")) ?? defaultMirror;
}

/** Returns the mirror of Debian's security updates from this machine's apt configuration; null when it has none. */
export async function securityMirror(): Promise<string | null> {
  return await knownMirror("debian-security");
}

/** Returns the mirror whose path ends in `name`, with a slash at its end. */
async function knownMirror(name: string): Promise<string | null> {
  const targets = ["indextargets", "--format", "$(REPO_URI)", "Created-By: Packages", "Origin: Debian"];
  const known = await runTool(["apt-get", ...targets], () => {}).catch(() => "");
  const found = known.split("\n").find((line) => new RegExp(`^https?://\\S*/${name}/?$`).test(line));
  return found === undefined ? null : found.replace(/\/?$/, "/");
}
