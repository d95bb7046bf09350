// Scores of Sphinx's search: a page that is about the words before pages that have them. Titles count,
// and what asked.toml says of a page; a name of the API reference comes first where it is asked for.
// The other numbers are Sphinx's own.
stopwords.push(
  ..."any can do does find from get has have how i many me my should use using we what when where which why you your".split(" "),
);

const plain = (text) =>
  text.toLowerCase().replace(/<[^>]*>/g, "").replace(/^\d+\.\s/, "").replace(/[^\p{L}\p{N}_.]+/gu, " ").trim();
const stems = (text) =>
  plain(text).split(/[ .]+/).filter((word) => !stopwords.includes(word)).map((word) => new Stemmer().stemWord(word));

// What is asked: its text, its words, and how well the index fits it, page by page.
const asked = { text: "", words: [], pages: null };

// Sphinx's own way to split a question, and the place where a score learns of it.
var splitQuery = (query) => {
  Object.assign(asked, { text: plain(query), words: stems(query), pages: null });
  return query.split(/[^\p{Letter}\p{Number}_\p{Emoji_Presentation}]+/gu).filter((word) => word);
};

// The share of the words asked for that a text has; 6 if it has no others.
const fit = (text) => {
  const found = new Set(stems(text)), wanted = new Set(asked.words);
  const both = [...wanted].filter((word) => found.has(word)).length;
  return plain(text) === asked.text || (both && both === wanted.size && both === found.size) ? 6 : both / (wanted.size || 1);
};

const fitOfPages = () => {
  const best = {};
  for (const [entry, places] of Object.entries(Search._index.indexentries))
    for (const [file, , main] of places)
      if (main) best[file] = Math.max(best[file] ?? 0, fit(entry));
  return Object.fromEntries(Object.entries(best).map(([file, share]) => [Search._index.docnames[file], share]));
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
    const total = Math.min(score, 20) + 10 * fit(title.split(" > ").at(-1)) + 15 * (asked.pages[page] ?? 0) + (anchor ? 0 : 20);
    if (page.endsWith("/changelog")) return total - 40;
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
