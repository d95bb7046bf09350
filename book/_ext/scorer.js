// Sphinx's search, made to forgive: a page may have any of the words, which count by how rare they are.
// A page that is about the words comes before pages that have them: titles count, and what asked.toml
// says of a page; a name of the API reference comes first where it is asked for.
stopwords.push(
  ..."any can do does find from get has have how i many me my should use using we what when where which why you your".split(" "),
);

const british = (text) => text.replace(/(\w{3})iz(e[ds]?|ing|ations?)\b/g, "$1is$2");
const plain = (text) =>
  british(text.toLowerCase()).replace(/<[^>]*>/g, "").replace(/^\d+\.\s/, "").replace(/[^\p{L}\p{N}_.]+/gu, " ").trim();
const stems = (text) =>
  plain(text).split(/[ .]+/).filter((word) => !stopwords.includes(word)).map((word) => new Stemmer().stemWord(word));

// What is asked: its text, its words, and how well the index fits it, page by page.
const asked = { text: "", words: [], pages: null };

// Sphinx's own way to split a question, and the place where a score learns of it.
var splitQuery = (query) => {
  Object.assign(asked, { text: plain(query), words: stems(query), pages: null });
  Search.performTermsSearch = anyOfTheWords;
  return british(query).split(/[^\p{Letter}\p{Number}_\p{Emoji_Presentation}]+/gu).filter((word) => word);
};

// The share of the words asked for that a text has; half a point more for a text of one of them and no
// other word, a point for a text of several; 6 for a text of just these.
const fit = (text) => {
  const found = new Set(stems(text)), wanted = new Set(asked.words);
  const both = [...wanted].filter((word) => found.has(word)).length;
  if (plain(text) === asked.text || (both && both === wanted.size && both === found.size)) return 6;
  return both / (wanted.size || 1) + (both && both === found.size ? Math.min(both, 2) / 2 : 0);
};

const fitOfPages = () => {
  const best = {};
  for (const [entry, places] of Object.entries(Search._index.indexentries))
    for (const [file, id, main] of places)
      if (main && !id.startsWith("term-")) best[file] = Math.max(best[file] ?? 0, fit(entry));
  return Object.fromEntries(Object.entries(best).map(([file, share]) => [Search._index.docnames[file], share]));
};

// Pages with any of the words, in text, title or entry: up to 20 by the share that they have.
const anyOfTheWords = (words) => {
  const { terms, titleterms, docnames, titles, filenames } = Search._index;
  const found = {}, places = (word) => [terms, titleterms].flatMap((index) => index[word] ?? []);
  const parts = (word) => word.length > 2 ? Object.keys(terms).filter((term) => term.includes(word)) : [];
  let whole = 0;
  for (const word of words) {
    const exact = places(word), files = new Set(exact.length ? exact : parts(word).flatMap(places));
    const rarity = Math.log((1 + docnames.length) / (1 + files.size));
    whole += rarity;
    for (const file of files) found[file] = (found[file] ?? 0) + rarity;
  }
  asked.pages ??= fitOfPages();
  docnames.forEach((name, file) => { if (asked.pages[name] >= 0.5) found[file] ??= 0; });
  if (!Object.keys(found).length) found[docnames.indexOf("book/intro")] = 0;  // a page to begin with
  return Object.entries(found).map(([file, share]) =>
    [docnames[file], titles[file], "", null, (20 * share) / (whole || 1), filenames[file]]);
};

var Scorer = {
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
  score: ([page, title, anchor, about, score]) => {
    asked.pages ??= fitOfPages();
    const total = Math.min(score, 20) + 10 * fit(title.split(" > ").at(-1)) + 30 * (asked.pages[page] ?? 0) + (anchor ? 0 : 20);
    if (/\/(changelog|references|annotated|notation)$/.test(page) && !(asked.pages[page] >= 0.5)) return total - 40;
    if (!page.startsWith("book/reference/")) return total;
    return total + (new RegExp(`[./]${asked.text.replaceAll(" ", ".")}$`, "i").test(page) ? 300 : -8);
  },
};

// The lines below a hit are text of the page in whole words, and say a formula once.
globalThis.addEventListener?.("DOMContentLoaded", () => {
  const summaryOf = Search.makeSearchSummary;
  Search.htmlToText = (html, anchor) => {
    const page = new DOMParser().parseFromString(html, "text/html").querySelector("article");
    page?.querySelectorAll(".headerlink, .katex-html, annotation, script, style, summary").forEach((part) => part.remove());
    return ((anchor && page?.querySelector(anchor)) || page)?.textContent.replace(/\s+/g, " ").trim() ?? "";
  };
  Search.makeSearchSummary = (...page) => {
    const summary = summaryOf(...page);
    if (summary) summary.textContent = summary.textContent.replace(/^\.{3}\S*\s/, "\u2026 ").replace(/\s\S*\.{3}$/, " \u2026");
    return summary;
  };
});
