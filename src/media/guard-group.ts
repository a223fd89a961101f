/**
 * Has a process group killed when this process ends, however that happens, until it is disposed of.
 *
 * A shell waits for the end of a pipe of this process. A parent-death signal would spare what a group's leader has started,
 * and be lost where the parent ended before it was set; and there are systems without.
 */
export function guardGroup(leader: number): Disposable {
  // A child of this process and of no other, which would have to wait for it at its end.
  const guard = Bun.spawn(["/bin/sh", "-c", 'read -r _; kill -KILL "-$1"', "sh", String(leader)], {
    stdin: "pipe",
    stdout: "ignore",
    stderr: "ignore",
    env: {},
    cwd: "/",
    detached: true,
  });
  return { [Symbol.dispose]: () => guard.kill("SIGKILL") };
}
