/**
 * Checks a package with lintian if it is installed, and otherwise logs that the check was skipped.
 * @throws {Error} with the errors that lintian found
 */
export async function checkWithLintian(deb: string, log: (line: string) => void): Promise<void> {
  if (Bun.which("lintian") === null) {
    log("SKIPPED: the checks of lintian, which is not installed (on Debian: apt install lintian)");
    return;
  }
  const child = Bun.spawn(["lintian", "--fail-on", "error", "--tag-display-limit", "0", deb], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  });
  const found = (await new Response(child.stdout).text()).trim();
  if (found !== "") log(found);
  if ((await child.exited) !== 0) throw new Error("lintian found errors");
  log("lintian found no error");
}
