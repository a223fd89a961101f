import { readFileSync } from "node:fs";

/** The parts of a WebM file that matter for seeking. */
export interface WebmPlaces {
  /** Ids of the segment's elements, in order, in hexadecimal digits. */
  readonly elements: readonly string[];
  /** Time and cluster position in the file of each cue. */
  readonly cues: readonly { readonly seconds: number; readonly at: number }[];
  /** Times of the clusters by their position in the file. */
  readonly clusters: ReadonlyMap<number, number>;
  readonly durationSeconds: number;
}

const ids = {
  segment: "18538067",
  info: "1549a966",
  duration: "4489",
  cluster: "1f43b675",
  timestamp: "e7",
  cues: "1c53bb6b",
  cuePoint: "bb",
  cueTime: "b3",
  cuePositions: "b7",
  cueClusterPosition: "f1",
};

interface Element {
  readonly id: string;
  readonly start: number;
  readonly body: number;
  readonly end: number;
}

/** Reads a WebM file with times in milliseconds (RFC 9559). */
export function webmPlaces(path: string): WebmPlaces {
  const bytes = readFileSync(path);
  const segment = find(bytes, 0, bytes.length, ids.segment);
  const children = [...elements(bytes, segment.body, segment.end)];
  const cueList = children
    .filter(({ id }) => id === ids.cues)
    .flatMap(({ body, end }) => [...elements(bytes, body, end)]);
  const info = find(bytes, segment.body, segment.end, ids.info);
  const duration = find(bytes, info.body, info.end, ids.duration);
  const cues = cueList.map((cue) => {
    const positions = find(bytes, cue.body, cue.end, ids.cuePositions);
    return {
      seconds: number(bytes, find(bytes, cue.body, cue.end, ids.cueTime)) / 1000,
      at: segment.body + number(bytes, find(bytes, positions.body, positions.end, ids.cueClusterPosition)),
    };
  });
  const clusters = children.filter(({ id }) => id === ids.cluster);
  return {
    elements: children.map(({ id }) => id),
    cues,
    clusters: new Map(
      clusters.map(({ start, body, end }) => [start, number(bytes, find(bytes, body, end, ids.timestamp)) / 1000]),
    ),
    durationSeconds: bytes.readDoubleBE(duration.body) / 1000,
  };
}

export const cuesFirst = (places: WebmPlaces) =>
  places.elements.indexOf(ids.cues) >= 0 && places.elements.indexOf(ids.cues) < places.elements.indexOf(ids.cluster);

function find(bytes: Buffer, from: number, to: number, id: string): Element {
  for (const element of elements(bytes, from, to)) if (element.id === id) return element;
  throw new Error(`there is no element ${id}`);
}

function* elements(bytes: Buffer, from: number, to: number): Generator<Element> {
  for (let start = from; start < to; ) {
    const idLength = Math.clz32(bytes.readUInt8(start)) - 23;
    const sizeAt = start + idLength;
    const sizeLength = Math.clz32(bytes.readUInt8(sizeAt)) - 23;
    let size = bytes.readUInt8(sizeAt) & (0xff >> sizeLength);
    for (let index = 1; index < sizeLength; index++) size = size * 256 + bytes.readUInt8(sizeAt + index);
    const body = sizeAt + sizeLength;
    yield { id: bytes.toString("hex", start, sizeAt), start, body, end: body + size };
    start = body + size;
  }
}

function number(bytes: Buffer, { body, end }: Element): number {
  return bytes.readUIntBE(body, end - body);
}
