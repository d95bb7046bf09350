// Scores of Sphinx's search. Whoever asks for a name of the API reference gets its page first, even
// where the glossary has the word, which scores 100; the other numbers are Sphinx's own.
var Scorer = {
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
  score: ([page, title, anchor, about, score]) =>
    page.startsWith("book/reference/") && score > 15 ? score + 100 : score,
};
