// HCL for highlight.js, which has no grammar of it: `.ci/book` puts this behind highlight.js itself, so that it is known
// before the first block is looked at.
hljs.registerLanguage("hcl", (hljs) => {
  const interpolation = { className: "subst", begin: /[$%]\{/, end: /\}/ };
  const string = {
    className: "string",
    variants: [
      { begin: /"/, end: /"/, contains: [hljs.BACKSLASH_ESCAPE, interpolation] },
      { begin: /<<-?([A-Z_]+)$/, end: /^\s*[A-Z_]+$/, contains: [interpolation] },
    ],
  };
  const keywords = {
    keyword:
      "resource data module variable output locals provider terraform moved removed import check for in if endif else endfor",
    literal: "true false null",
    built_in: "jsonencode var local each count path self",
  };
  const number = { className: "number", begin: /\b\d+(\.\d+)?\b/ };
  const attribute = { className: "attr", begin: /^\s*[\w-]+(?=\s*=(?![=>]))/ };
  interpolation.contains = [number, { className: "string", begin: /"/, end: /"/ }];
  return {
    name: "HCL",
    aliases: ["tf", "terraform"],
    keywords,
    contains: [
      hljs.HASH_COMMENT_MODE,
      hljs.C_LINE_COMMENT_MODE,
      hljs.C_BLOCK_COMMENT_MODE,
      attribute,
      string,
      number,
    ],
  };
});

// These have no grammar either, and are shown as they are.
hljs.registerAliases(["elisp", "rego"], { languageName: "plaintext" });
