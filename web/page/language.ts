// The keywords of the language, coloured without the compiler. The compiler colours names.
import { HighlightStyle, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { tags } from "@lezer/highlight";
import keywords from "../build-files/keywords.json";

const WORDS = new Set<string>(keywords);

/** A declaration up to its name. */
const DECLARATION = /^\s*(param|const|input)\s+[A-Za-z_][A-Za-z0-9_]*$/;

/** The tokenizer's state: whether a block comment or a unit is open. */
interface Reading {
  comment: boolean;
  unit: boolean;
}

const grammar = StreamLanguage.define<Reading>({
  name: "lgm",
  startState: () => ({ comment: false, unit: false }),
  token(stream, state) {
    if (state.comment) {
      state.comment = !stream.skipTo("*/") ? (stream.skipToEnd(), true) : (stream.match("*/"), false);
      return "comment";
    }
    if (state.unit) {
      state.unit = false;
      if (stream.match(/[^\]\n]*\]/)) return "unit";
    }
    if (stream.eatSpace()) return null;
    if (stream.match("///")) return stream.skipToEnd(), "docComment";
    if (stream.match("//")) return stream.skipToEnd(), "comment";
    if (stream.match("/*")) return (state.comment = true), "comment";
    if (stream.match(/"[^"\n]*"?/)) return "string";
    if (stream.match(/[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?/)) {
      // A bracket after a number contains its unit.
      state.unit = Boolean(stream.match(/\s*(?=\[[^\],;]*\])/, true));
      return "number";
    }
    const word = stream.match(/[A-Za-z_][A-Za-z0-9_]*/) as RegExpMatchArray | null;
    if (word) {
      // The same applies to a bracket after a declared name.
      state.unit = DECLARATION.test(stream.string.slice(0, stream.pos)) && Boolean(stream.match(/\s*(?=\[[^\],;0-9]*\])/, true));
      return WORDS.has(word[0]) ? "keyword" : "name";
    }
    if (stream.match(/->|:=|==|!=|<=|>=|[-+*/^=<>]/)) return "operator";
    stream.next();
    return "punctuation";
  },
  tokenTable: { docComment: tags.docComment, unit: tags.unit, name: tags.name },
  languageData: { commentTokens: { line: "//", block: { open: "/*", close: "*/" } }, closeBrackets: { brackets: ["(", "[", "{", '"'] } },
});

const colors = HighlightStyle.define([
  { tag: tags.keyword, class: "tok-keyword" },
  { tag: [tags.comment, tags.docComment], class: "tok-comment" },
  { tag: tags.string, class: "tok-string" },
  { tag: tags.number, class: "tok-number" },
  { tag: tags.unit, class: "tok-unit" },
  { tag: [tags.operator, tags.punctuation], class: "tok-operator" },
]);

/** The language of the editor. */
export const language = [grammar, syntaxHighlighting(colors)];
