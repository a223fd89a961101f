/** What has the kernel kill a process when the one that started it ends, however that happens; empty where there is none. */
const withParent = [Bun.which("setpriv") ?? "", "--pdeathsig", "KILL", "--"];
const isThere =
  process.platform === "linux" &&
  withParent[0] !== "" &&
  Bun.spawnSync([...withParent, "true"], { stdout: "ignore", stderr: "ignore" }).exitCode === 0;

/** A command line whose process does not outlive this one: not even tests or trials that are killed leave it behind. */
export function dyingWithParent(command: readonly string[]): string[] {
  return isThere ? [...withParent, ...command] : [...command];
}
