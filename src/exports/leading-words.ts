/** Articles, prepositions and conjunctions that are separate words, for the languages with a known list. */
const wordsByLanguage: Readonly<Record<string, string>> = {
  en: "a an the and or but nor if than as because of to in on at by for from with without into onto upon about between through during within against towards",
  fr: "le la les un une des du de au aux à ce cet cette ces et ou mais ni que qui si comme dans en par pour sur sous avec sans chez vers entre",
  de: "der die das dem den des ein eine einem einen einer eines und oder aber sondern denn weil dass wenn ob als wie in im ins an am ans auf aus bei beim bis durch für gegen mit nach ohne über um unter von vom vor zu zum zur zwischen",
  es: "el la los las lo un una unos unas de del a al y e o u pero ni que si como porque en con por para sin sobre entre hasta desde hacia",
  it: "il lo la i gli le un uno una di del dello della dei degli delle a al allo alla ai agli alle da dal dallo dalla dai dagli dalle in nel nello nella nei negli nelle su sul sullo sulla sui sugli sulle con per tra fra e ed o ma che se come",
  pt: "o a os as um uma uns umas de do da dos das em no na nos nas num numa ao à aos às por pelo pela pelos pelas para com sem sobre entre até e ou mas nem que se como porque",
  nl: "de het een en of maar want dat als om te in op aan bij van voor met naar uit door over tot tussen zonder tegen onder",
};

const leadingWords = new Map(Object.entries(wordsByLanguage).map(([code, words]) => [code, new Set(words.split(" "))]));
const opening = /^["'“‘„«‹([¿¡-]+/u;

/**
 * Returns whether a word belongs to the next one, so that a line should not end with it: "de", "the", "und". Always
 * false for a word followed by punctuation, and in a language without a list.
 * @param language ISO 639-1; null if unknown
 */
export function leadsOn(word: string, language: string | null): boolean {
  const text = word.trim().replace(opening, "").toLowerCase();
  return leadingWords.get(language ?? "")?.has(text) ?? false;
}
