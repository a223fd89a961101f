import { BLOCK_SECONDS } from "../../../src/blocks/index.ts";
import { median, quantile } from "../../shared/figures.ts";
import { Events, Station } from "./events.ts";
import { FairSlots } from "./fair-slots.ts";
import { type Costs, LENGTHS, ofRecording, WORK_SHARES } from "./model.ts";

/** The machines of an installation, and what they are used for. */
export interface Plant {
  /** Cores of the coordinator. */
  readonly cores: number;
  /** Whether broker and workers compute on the coordinator's cores, as in the measurement that checks the simulation. */
  readonly shared: boolean;
  /** Recordings that are processed at the same time. */
  readonly slots: number;
  /** Operations of all workers at the same time. */
  readonly lanes: number;
  /** Seconds of recordings that a lane processes in a second. */
  readonly laneSpeed: number;
  /** In each direction. */
  readonly networkBytes: number;
  readonly diskBytes: number;
  /** Bytes of an upload for each hour of audio. */
  readonly uploadBytes: number;
  readonly pollEverySeconds: number;
  readonly accounts: number;
  /** Whether the data also go to a standby, and the audio to an object store. */
  readonly copies: boolean;
}

/** Decoded audio on the disk while a recording is processed: 16 kHz, 16 bit. */
export const WORK_BYTES_PER_HOUR = 3600 * 32_000;
const PAGE_BYTES = 4096;
/** Share of the completed audio by which the backlog may have grown. */
const BACKLOG_SHARE = 0.03;
/** A page goes to the write-ahead log, and later to the database. */
export const WRITES_OF_A_PAGE = 2;

export const RESOURCES = ["main thread", "cores", "network out", "network in", "disk", "slots", "workers"] as const;
export type Resource = (typeof RESOURCES)[number];

export interface Simulated {
  /** Hours of audio that were completed in an hour. */
  readonly hoursAnHour: number;
  /** Share of the time in which each resource was used. */
  readonly use: Readonly<Record<Resource, number>>;
  /** From the upload until processing begins. */
  readonly waitSeconds: { readonly median: number; readonly p95: number };
  /** From the upload to the transcript. */
  readonly turnaroundSeconds: { readonly median: number; readonly p95: number };
  /** Whether the backlog stays. */
  readonly keepsUp: boolean;
  /** From the first upload to the last transcript. */
  readonly seconds: number;
}

/** The recordings: all at once in this order, or at random for a time. */
export type Arrivals =
  | { readonly minutes: readonly number[]; readonly uploadsAtOnce: number }
  | { readonly hoursAnHour: number; readonly warmUpSeconds: number; readonly seconds: number };

/** Simulates an installation. The same input gives the same result. */
export function simulate(costs: Costs, plant: Plant, arrivals: Arrivals): Simulated {
  const random = randomNumbers(1);
  const events = new Events();
  const station = (servers: number) => new Station(events, servers);
  const [main, cores, disk] = [station(1), station(plant.cores), station(1)];
  const network = { out: station(1), in: station(1) };
  const lanes = station(plant.lanes);
  // One part that runs and one that waits for each lane, as the coordinator publishes them.
  const published = station(2 * plant.lanes);
  const slots = new FairSlots(plant.slots);
  const waits: number[] = [];
  const turnarounds: number[] = [];
  let [openSeconds, completedSeconds, lastEnd, slotSeconds, slotsSince] = [0, 0, 0, 0, 0];
  const countSlots = () => {
    slotSeconds += slots.running * (events.now - slotsSince);
    slotsSince = events.now;
  };

  /** Computes on the server's only main thread, which also waits for the disk when it commits. */
  const onMain = (seconds: number, syncs: number, then: () => void) =>
    main.acquire(() =>
      cores.use(seconds, () => {
        events.after(syncs * costs.syncSeconds, () => {
          main.release();
          then();
        });
      }),
    );
  const send = (to: Station, bytes: number, then = () => {}) => to.use(bytes / plant.networkBytes, then);
  const write = (bytes: number, then = () => {}) => disk.use(bytes / plant.diskBytes, then);

  const arrive = (minutes: number, uploaded = () => {}) => {
    const hours = minutes / 60;
    const arrivedAt = events.now;
    const account = Math.floor(random() * plant.accounts);
    const parts = partsOf(costs, minutes);
    const count = parts.detect + parts.transcribe + parts.embed;
    const own = {
      main: costs.mainSeconds.perRecording / 2,
      syncs: costs.syncs.perRecording / 2,
      partMain: (costs.mainSeconds.perHour * hours) / count / 2,
      partSyncs: (costs.syncs.perHour * hours) / count / 2,
      partSent: ofRecording(costs.sentBytes, minutes) / count,
      partReceived: ofRecording(costs.receivedBytes, minutes) / count,
      partBroker: ofRecording(costs.brokerSeconds, minutes) / count,
      partWorker: ofRecording(costs.workerSeconds, minutes) / count,
    };
    const pages = ofRecording(costs.pages, minutes) * PAGE_BYTES;
    const work = WORK_BYTES_PER_HOUR * hours;
    let isOpen = true;
    openSeconds += 60 * minutes;

    const part = (seconds: number, then: () => void) =>
      published.acquire(() =>
        onMain(own.partMain, own.partSyncs, () =>
          send(network.out, own.partSent, () => {
            const compute = () =>
              lanes.acquire(() => {
                const computed = () =>
                  events.after(seconds, () => {
                    lanes.release();
                    send(network.in, own.partReceived, () =>
                      onMain(own.partMain, own.partSyncs, () => {
                        published.release();
                        then();
                      }),
                    );
                  });
                if (plant.shared) cores.use(own.partWorker, computed);
                else computed();
              });
            if (plant.shared) cores.use(own.partBroker, compute);
            else compute();
          }),
        ),
      );
    const step = (share: number, number: number, then: () => void) => {
      let left = number;
      const seconds = (60 * minutes * share) / plant.laneSpeed / number;
      for (let each = 0; each < number; each++) part(seconds, () => --left === 0 && then());
    };
    const poll = () => {
      if (!isOpen) return;
      onMain(costs.requests.pollSeconds, 0, () => events.after(plant.pollEverySeconds, poll));
    };
    const end = () => {
      countSlots();
      for (const next of slots.leave(account)) next();
      isOpen = false;
      lastEnd = events.now;
      openSeconds -= 60 * minutes;
      completedSeconds += 60 * minutes;
      turnarounds.push(events.now - arrivedAt);
      onMain(costs.requests.resultSeconds * hours, 0, () => send(network.out, costs.requests.resultBytes * hours));
    };
    const process = () => {
      waits.push(events.now - arrivedAt);
      cores.use(ofRecording(costs.childSeconds, minutes), () => {
        write(work + pages * WRITES_OF_A_PAGE);
        if (plant.copies) send(network.out, work + pages + plant.uploadBytes * hours * 2);
        step(WORK_SHARES.detect, parts.detect, () =>
          step(WORK_SHARES.transcribe, parts.transcribe, () =>
            step(WORK_SHARES.embed, parts.embed, () =>
              cores.use(ofRecording(costs.threadSeconds, minutes), () => onMain(own.main, own.syncs, end)),
            ),
          ),
        );
      });
    };
    send(network.in, plant.uploadBytes * hours, () =>
      write(plant.uploadBytes * hours, () =>
        onMain(own.main, own.syncs, () => {
          uploaded();
          events.after(plant.pollEverySeconds, poll);
          countSlots();
          for (const next of slots.enter(account, process)) next();
        }),
      ),
    );
  };

  let [measuredSeconds, openBefore] = [0, 0];
  const stations = { "main thread": main, cores, "network out": network.out, "network in": network.in, disk };
  if ("minutes" in arrivals) {
    const waiting = [...arrivals.minutes];
    const next = () => {
      const minutes = waiting.shift();
      if (minutes !== undefined) arrive(minutes, next);
    };
    for (let client = 0; client < arrivals.uploadsAtOnce; client++) next();
    events.run();
    measuredSeconds = lastEnd;
  } else {
    const average = LENGTHS.reduce((sum, { minutes, share }) => sum + minutes * share, 0);
    const perSecond = (60 * arrivals.hoursAnHour) / average / 3600;
    const next = () => {
      arrive(lengthAt(random()));
      events.after(-Math.log(1 - random()) / perSecond, next);
    };
    next();
    events.run(arrivals.warmUpSeconds);
    events.now = arrivals.warmUpSeconds;
    for (const each of [...Object.values(stations), lanes]) each.reset();
    countSlots();
    [slotSeconds, completedSeconds, openBefore, waits.length, turnarounds.length] = [0, 0, openSeconds, 0, 0];
    events.run(arrivals.warmUpSeconds + arrivals.seconds);
    events.now = arrivals.warmUpSeconds + arrivals.seconds;
    measuredSeconds = arrivals.seconds;
  }
  countSlots();
  const share = (each: Station) => each.usedSeconds / each.servers / measuredSeconds;
  const ofTimes = (times: readonly number[]) => ({ median: median(times), p95: quantile(times, 0.95) });
  return {
    hoursAnHour: completedSeconds / measuredSeconds,
    use: {
      ...{ "main thread": share(main), cores: share(cores), "network out": share(network.out) },
      ...{ "network in": share(network.in), disk: share(disk) },
      ...{ slots: slotSeconds / plant.slots / measuredSeconds, workers: share(lanes) },
    },
    waitSeconds: ofTimes(waits),
    turnaroundSeconds: ofTimes(turnarounds),
    // Recordings do not arrive evenly, so the backlog changes a little at any load.
    keepsUp: openSeconds - openBefore <= BACKLOG_SHARE * completedSeconds,
    seconds: lastEnd,
  };
}

/** Returns the parts of a recording: blocks of speech detection and of embedding, with its sentences, and chunks. */
function partsOf(costs: Costs, minutes: number) {
  const blocks = Math.ceil((60 * minutes) / BLOCK_SECONDS);
  const all = Math.round(ofRecording(costs.parts, minutes));
  return { detect: blocks, embed: 2 * blocks, transcribe: Math.max(1, all - 3 * blocks) };
}

function lengthAt(random: number): number {
  let sum = 0;
  for (const { minutes, share } of LENGTHS) {
    sum += share;
    if (random < sum) return minutes;
  }
  return LENGTHS.at(-1)?.minutes ?? 0;
}

/** Returns the same random numbers each time (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
