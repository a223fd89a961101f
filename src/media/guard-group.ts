/**
 * Ensures that a process group is killed when this process ends for any reason, until the guard is disposed.
 *
 * A shell waits until its pipe from this process closes. A parent-death signal would not reach the processes that the
 * group's leader has started. It would also be lost if the parent ended before it was set, and some systems do not have
 * it.
 */
export function guardGroup(leader: number): Disposable {
  // The guard is a child of this process and of no other process, which would have to wait for it when it ends.
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
