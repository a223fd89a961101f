import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runTool } from "./tools.ts";

/** Packages of one release of Debian. */
export interface DebianPackages {
  /** Such as trixie. */
  readonly suite: string;
  /** A second one, such as bookworm-backports, whose packages are taken before the other's. */
  readonly preferred?: string;
  /** Names, with `=VERSION` where it has to be that one. */
  readonly packages: readonly string[];
  /** Also the libraries that they need, but for those of every program. */
  readonly withLibraries?: true;
}

/** A second copy of these in a process is ruinous. */
const ofEveryProgram = /^(?:libc6|libgcc-s1|libstdc\+\+6|libcrypt1)$/;

/** Where Debian keeps the keys of its releases. */
const keyring = "/usr/share/keyrings/debian-archive-keyring.gpg";
/** The one that every mirror is a copy of. */
const defaultMirror = "http://deb.debian.org/debian/";

/**
 * Fetches packages by apt, from the mirror that this machine uses, and unpacks them into a new directory: nothing is
 * installed, nothing of the system is read but the mirror and Debian's keys, and no privilege is needed.
 * @throws Error that says what is missing or failed
 */
export async function unpackDebianPackages(
  { suite, preferred = suite, packages, withLibraries }: DebianPackages,
  into: string,
  which: (program: string) => string | null = Bun.which,
): Promise<void> {
  for (const tool of ["apt-get", "dpkg-deb"]) {
    if (which(tool) === null) throw new Error(`this is no Debian system: it has no ${tool}`);
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
  const said = await runTool(simulated, () => {});
  const names = [...said.matchAll(/^Inst (lib\S+)/gm)].map((match) => match[1] ?? "");
  return names.filter((name) => !ofEveryProgram.test(name));
}

/** Of Debian's own packages, as this machine is configured. */
async function mirror(): Promise<string> {
  const targets = ["indextargets", "--format", "$(REPO_URI)", "Created-By: Packages", "Origin: Debian"];
  const known = await runTool(["apt-get", ...targets], () => {}).catch(() => "");
  return known.split("\n").find((line) => /^https?:\/\/\S*\/debian\/?$/.test(line)) ?? defaultMirror;
}
