/** A directory with rights of its own. */
export interface SpecialDirectory {
  readonly path: string;
  readonly mode: string;
  readonly owner: number;
}

/** Packs a tree with GNU tar, as root's and of no time, so that the same tree gives the same bytes. */
export async function packTree(
  archive: string,
  tree: string,
  special: readonly SpecialDirectory[] = [],
): Promise<void> {
  const same = ["--format=ustar", "--sort=name", "--mtime=@0", "--numeric-owner", `--directory=${tree}`];
  const excluded = special.map(({ path }) => `--exclude=./${path}`);
  const mode = "--mode=u=rwX,go=rX";
  await tar(["--create", `--file=${archive}`, ...same, mode, "--owner=0", "--group=0", ...excluded, "."]);
  for (const { path, mode, owner } of special) {
    const rights = [`--mode=${mode}`, `--owner=${owner}`, `--group=${owner}`, "--no-recursion"];
    await tar(["--append", `--file=${archive}`, ...same, ...rights, `./${path}`]);
  }
}

async function tar(args: readonly string[]): Promise<void> {
  const child = Bun.spawn(["tar", ...args], { stdin: "ignore", stdout: "ignore", stderr: "pipe" });
  const said = await new Response(child.stderr).text();
  if ((await child.exited) !== 0) throw new Error(`tar failed: ${said.trim()}`);
}
