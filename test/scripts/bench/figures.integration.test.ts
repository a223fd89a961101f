import { expect, test } from "bun:test";
import { readMetrics } from "../../../harness/measured-server.ts";
import { stepsOf } from "../../../tools/bench/transcribe.ts";
import { readTimings } from "../../../tools/bench/whisper-cpp.ts";
import { childrenOf, commandOf, cpuSecondsOf, peakBytesOf, resetPeak } from "../../../tools/shared/processes.ts";

test("whisper.cpp's own timings are read, without the loading and without steps that did not run", () => {
  const told = `main: processing 'x' (6720000 samples, 420.0 sec)
whisper_print_timings:     load time =   500.00 ms
whisper_print_timings:     fallbacks =   1 p /   2 h
whisper_print_timings:      mel time =   700.00 ms
whisper_print_timings:   encode time = 15000.00 ms /    19 runs (   789.47 ms per run)
whisper_print_timings:   decode time =     0.00 ms /     1 runs (     0.00 ms per run)
whisper_print_timings:    total time = 29500.00 ms
`;
  expect(readTimings(told)).toEqual({
    seconds: 29,
    steps: [
      { name: "mel spectrum", seconds: 0.7, count: null },
      { name: "encoder", seconds: 15, count: 19 },
    ],
  });
  expect(() => readTimings("error: failed to read the model\n")).toThrow("printed no timings");
});

test("a server's steps are read from its metrics, over all devices, in the order of processing", () => {
  const metrics = `# HELP transcribe_step_seconds_total Time
# TYPE transcribe_step_seconds_total counter
transcribe_step_seconds_total{step="transcribe",device="cuda"} 2
transcribe_step_seconds_total{step="transcribe",device="cpu"} 40.5
transcribe_step_seconds_total{step="decode",device="cpu"} 0.5
transcribe_step_audio_seconds_total{step="detect",device="cpu"} 420
`;
  expect(stepsOf(readMetrics(metrics))).toEqual([
    { name: "decoding", seconds: 0.5, count: null },
    { name: "transcription", seconds: 42.5, count: null },
  ]);
});

test("the figures of a running process are read, and those of a process that has exited are zero", async () => {
  const child = Bun.spawn(["sh", "-c", "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; sleep 60"]);
  try {
    while (cpuSecondsOf(child.pid) === 0) await Bun.sleep(10);
    expect(childrenOf(process.pid)).toContain(child.pid);
    expect(commandOf(child.pid)).toContain("-c");
    expect(peakBytesOf(child.pid)).toBeGreaterThan(100_000);
    resetPeak(child.pid);
    expect(peakBytesOf(child.pid)).toBeGreaterThan(100_000);
  } finally {
    child.kill();
    await child.exited;
  }
  expect([cpuSecondsOf(child.pid), peakBytesOf(child.pid), childrenOf(child.pid)]).toEqual([0, 0, []]);
});
