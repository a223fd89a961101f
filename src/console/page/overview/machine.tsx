import type { ComponentChildren } from "preact";
import type { Overview } from "../../contract/index.ts";
import { bytes, number, roughly } from "../format.ts";
import { Ago, Figure, Meter } from "../parts/index.ts";
import { strings } from "../strings.ts";

const texts = strings.overview;
const stepNames: Readonly<Record<string, string>> = strings.steps;

/** Shows the speed of the machine, its memory and disk, and the problems since the start of the server. */
export function Machine({ overview }: { overview: Overview }) {
  return (
    <aside class="machine" aria-label={texts.machine}>
      <Speed overview={overview} />
      <Memory overview={overview} />
      {overview.disk !== null && <Disk disk={overview.disk} />}
      {overview.fleet !== null && <Fleet machines={overview.fleet} />}
      <SinceStart overview={overview} />
    </aside>
  );
}

function Part({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

/** Work of a shorter time says nothing about a speed. */
const MIN_WORK_SECONDS = 0.01;

/** Speed from which the exact figure says nothing. The fastest measured GPU transcribes 649 times real time. */
const MAX_SPEED = 1_000;

/** Returns a speed as text. */
const speedText = (timesRealTime: number) =>
  timesRealTime > MAX_SPEED ? texts.timesMore(number(MAX_SPEED)) : texts.times(roughly(timesRealTime));

function Speed({ overview: { speed, worker, live } }: { overview: Overview }) {
  // Finalizing writes the transcript and processes no audio, so it has no speed.
  const measured = speed.filter(
    ({ step, work_seconds, audio_seconds }) =>
      step !== "finalize" && work_seconds >= MIN_WORK_SECONDS && audio_seconds > 0,
  );
  return (
    <Part title={texts.speed}>
      {measured.length === 0 && <p class="empty">{texts.noSpeed}</p>}
      <dl class="figures">
        {measured.map(({ step, device, gpu, times_real_time }) => (
          <Figure
            key={`${step} ${device} ${gpu}`}
            name={
              <>
                {stepNames[step] ?? step} <span class="soft">{gpu ?? device}</span>
              </>
            }
            value={speedText(times_real_time)}
          />
        ))}
        <Figure name={texts.atOnce} value={number(worker.lanes)} />
        <Figure name={texts.waitingParts} value={number(worker.waiting)} />
        {worker.decoder !== null && <Figure name={texts.decoderSlots} value={number(worker.decoder.slots)} />}
        {typeof worker.decoder?.rows_per_step === "number" && (
          <Figure name={texts.rowsPerStep} value={roughly(worker.decoder.rows_per_step)} />
        )}
        {live !== null && <Figure name={texts.live} value={texts.of(number(live.open), number(live.places))} />}
      </dl>
    </Part>
  );
}

function Memory({ overview: { memory } }: { overview: Overview }) {
  const used = memory.total_bytes - memory.available_bytes;
  return (
    <Part title={texts.memory}>
      <Meter
        label={texts.memoryUsed}
        value={used}
        limit={memory.total_bytes}
        text={texts.of(bytes(used), bytes(memory.total_bytes))}
      />
      {memory.gpus.map((gpu) => (
        <Meter
          key={gpu.label}
          label={texts.gpu(gpu.name, memory.gpus.length > 1 ? gpu.label : null)}
          value={gpu.total_bytes - gpu.free_bytes}
          limit={gpu.total_bytes}
          text={texts.of(bytes(gpu.total_bytes - gpu.free_bytes), bytes(gpu.total_bytes))}
        />
      ))}
      <p class="soft">
        {texts.memoryOfProcesses(
          bytes(memory.server_bytes),
          memory.worker_bytes === null ? null : bytes(memory.worker_bytes),
        )}
      </p>
    </Part>
  );
}

function Disk({ disk }: { disk: NonNullable<Overview["disk"]> }) {
  const folders = Object.entries(disk.folders).filter(([, size]) => size > 0);
  return (
    <Part title={texts.disk}>
      <Meter
        label={texts.diskUsed}
        value={disk.size_bytes - disk.free_bytes}
        limit={Math.max(1, disk.size_bytes - disk.reserve_bytes)}
        text={texts.free(bytes(disk.free_bytes), bytes(disk.size_bytes))}
      />
      <dl class="figures">
        {[["database", disk.database_bytes] as const, ...folders].map(([name, size]) => (
          <Figure key={name} name={name} value={bytes(size)} />
        ))}
      </dl>
    </Part>
  );
}

function Fleet({ machines }: { machines: NonNullable<Overview["fleet"]> }) {
  return (
    <Part title={texts.fleet}>
      {machines.length === 0 && <p class="empty">{texts.noMachines}</p>}
      <dl class="figures">
        {machines.map(({ name, version, lanes, busy, problem }) => (
          <Figure
            key={name}
            name={
              <>
                {name} <span class="soft">{problem ?? version}</span>
              </>
            }
            isBad={problem !== null}
            value={problem === null ? texts.lanes(busy, lanes) : texts.unused}
          />
        ))}
      </dl>
    </Part>
  );
}

function SinceStart({ overview: { server, refusals, failures, worker } }: { overview: Overview }) {
  const crashes = worker.crashes.reduce((all, { count }) => all + count, 0);
  return (
    <Part title={texts.sinceStart}>
      <p class="soft">
        {texts.started} <Ago at={server.started_at} />
      </p>
      <dl class="figures">
        <Figure name={texts.worker} value={texts.workerStates[worker.state]} />
        <Figure name={texts.workerCrashes} isBad={crashes > 0} value={number(crashes)} />
        {failures.map(({ reason, cause, count }) => (
          <Figure key={`${reason} ${cause}`} name={texts.failed(cause ?? reason)} isBad value={number(count)} />
        ))}
        {refusals.map(({ code, count }) => (
          <Figure key={code} name={texts.refused(code)} value={number(count)} />
        ))}
        {refusals.length === 0 && <Figure name={texts.refusals} value={number(0)} />}
      </dl>
    </Part>
  );
}
