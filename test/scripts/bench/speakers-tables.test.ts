import { expect, test } from "bun:test";
import { coresTable, type SpeakerFigures } from "../../../tools/bench/speakers.ts";

const run = (recording: SpeakerFigures["recording"], detectBlock: number): SpeakerFigures => ({
  ...{ recording, speed: 50 },
  steps: { detectBlock, embedBlock: 30, clusterSpeakers: 2, embedSentences: 3 },
});

test("the cores that keep up with a GPU follow from the medians of the CPU seconds", () => {
  const [seconds, cores] = coresTable([
    run("meetings", 25),
    run("meetings", 99),
    run("meetings", 20),
    run("dialogues", 37),
  ]);
  expect(seconds.lines).toEqual([
    ["detectBlock", "25.0", "37.0"],
    ["embedBlock", "30.0", "30.0"],
    ["clusterSpeakers", "2.0", "2.0"],
    ["embedSentences", "3.0", "3.0"],
    ["together", "60.0", "72.0"],
  ]);
  expect(cores.lines).toEqual([
    ["100", "2", "2"],
    ["300", "5", "6"],
    ["600", "10", "12"],
    ["1000", "17", "20"],
  ]);
});
