import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { corpusPath } from "../../harness/checkout.ts";
import { contradictsLanguage } from "../../src/pipeline/contradicts-language.ts";

const wordsOf = (text: string) => text.split(" ").map((word) => ({ text: ` ${word}` }));

describe("words contradict a language", () => {
  test.each<[string, string, string, boolean]>([
    ["in its own script", "ru", "Привет, как дела", false],
    ["in Latin letters instead of Cyrillic", "ru", "Privet, kak dela", true],
    ["in Cyrillic instead of Latin letters", "de", "Гутен Таг", true],
    ["in Cyrillic instead of Greek", "el", "Добрый день", true],
    ["with a foreign name", "ru", "Сегодня OpenAI показала новую модель", false],
    ["without letters", "de", "1, 2, 3", false],
    ["none", "de", "", false],
    ["English instead of German", "de", "and that is what they would have said about the house", true],
    ["English as such", "en", "and that is what they would have said about the house", false],
    ["a short English quotation", "fr", "il a dit the show must go on et voilà que tout le monde part", false],
    ["too few to be sure", "de", "what the", false],
  ])("%s (%s)", (_, code, text, expected) => {
    expect(contradictsLanguage(wordsOf(text), code)).toBe(expected);
  });

  const manifest = corpusPath("manifest.json");
  test.skipIf(!existsSync(manifest))("only where the corpus has another language", () => {
    const recordings = JSON.parse(readFileSync(manifest, "utf8")) as {
      language: string | null;
      transcript: string | null;
    }[];
    const european = new Set(["de", "en", "es", "fr", "it", "pt", "ru"]);
    const texts = recordings.flatMap(({ language, transcript }) => {
      const code = language?.slice(0, 2) ?? "";
      return transcript === null || !european.has(code) ? [] : { code, words: wordsOf(transcript) };
    });
    expect(texts.length).toBeGreaterThan(60);
    expect(texts.filter(({ code, words }) => contradictsLanguage(words, code))).toEqual([]);
    const english = texts.filter(({ code, words }) => code === "en" && words.length > 20);
    const found = english.filter(({ words }) => contradictsLanguage(words, "de")).length;
    expect(found / english.length).toBeGreaterThan(0.8);
    const asian = recordings.flatMap(({ language, transcript }) =>
      transcript !== null && ["ja", "ko", "zh"].includes(language?.slice(0, 2) ?? "") ? [wordsOf(transcript)] : [],
    );
    expect(asian.length).toBeGreaterThan(1);
    for (const code of ["de", "el", "ru"]) {
      expect(asian.filter((words) => !contradictsLanguage(words, code))).toEqual([]);
    }
  });

  // Article 1 of the Universal Declaration of Human Rights, in the languages that have no recording in the corpus.
  test.each([
    ["bg", "Всички хора се раждат свободни и равни по достойнство и права. Те са надарени с разум и съвест"],
    ["cs", "Všichni lidé rodí se svobodní a sobě rovní co do důstojnosti a práv. Jsou nadáni rozumem a svědomím"],
    [
      "da",
      "Alle mennesker er født frie og lige i værdighed og rettigheder. De er udstyret med fornuft og samvittighed",
    ],
    ["el", "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα"],
    ["et", "Kõik inimesed sünnivad vabadena ja võrdsetena oma väärikuselt ja õigustelt"],
    ["fi", "Kaikki ihmiset syntyvät vapaina ja tasavertaisina arvoltaan ja oikeuksiltaan"],
    ["hr", "Sva ljudska bića rađaju se slobodna i jednaka u dostojanstvu i pravima"],
    ["hu", "Minden emberi lény szabadon születik és egyenlő méltósága és joga van"],
    ["lt", "Visi žmonės gimsta laisvi ir lygūs savo orumu ir teisėmis. Jiems suteiktas protas ir sąžinė"],
    ["lv", "Visi cilvēki piedzimst brīvi un vienlīdzīgi savā pašcieņā un tiesībās"],
    ["mt", "Il-bnedmin kollha jitwieldu ħielsa u ugwali fid-dinjità u d-drittijiet"],
    [
      "nl",
      "Alle mensen worden vrij en gelijk in waardigheid en rechten geboren. Zij zijn begiftigd met verstand en geweten",
    ],
    ["pl", "Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i swych praw"],
    ["ro", "Toate ființele umane se nasc libere și egale în demnitate și în drepturi"],
    ["sk", "Všetci ľudia sa rodia slobodní a sebe rovní, čo sa týka ich dôstojnosti a práv"],
    ["sl", "Vsi ljudje se rodijo svobodni in imajo enako dostojanstvo in enake pravice"],
    ["sv", "Alla människor är födda fria och lika i värde och rättigheter. De har utrustats med förnuft och samvete"],
    ["uk", "Всі люди народжуються вільними і рівними у своїй гідності та правах. Вони наділені розумом і совістю"],
  ])("not in %s, but the same in English does", (code, text) => {
    expect(contradictsLanguage(wordsOf(text), code)).toBe(false);
    const english =
      "They are endowed with reason and conscience and should act towards one another in that spirit from birth";
    expect(contradictsLanguage(wordsOf(english), code)).toBe(true);
  });
});
