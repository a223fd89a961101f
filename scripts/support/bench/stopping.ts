const cleanups = new Set<() => unknown>();

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.once(signal, () => {
    void Promise.allSettled([...cleanups].map((cleanup) => cleanup())).finally(() => process.exit(1));
  });
}

/** What is done before this process ends at a signal, until the answer is disposed of. */
export function beforeStop(cleanup: () => unknown): Disposable {
  cleanups.add(cleanup);
  return { [Symbol.dispose]: () => void cleanups.delete(cleanup) };
}
