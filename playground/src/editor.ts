// The editor: one file at a time, with marks at its findings.

import { javascript } from "@codemirror/lang-javascript";
import { json } from "@codemirror/lang-json";
import { python } from "@codemirror/lang-python";
import { yaml } from "@codemirror/lang-yaml";
import { syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, lintGutter, setDiagnostics } from "@codemirror/lint";
import { EditorState, type Extension } from "@codemirror/state";
import { EditorView, keymap, lineNumbers } from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";
import { basicSetup } from "codemirror";
import { hcl } from "codemirror-lang-hcl";

const LANGUAGES: [RegExp, () => Extension][] = [
  [/\.(tf|tofu|tfvars|hcl)$/, hcl],
  [/\.(ya?ml|template)$/, yaml],
  [/\.json$/, json],
  [/\.py$/, python],
  [/\.[cm]?[jt]sx?$/, () => javascript({ typescript: true })],
];

const THEME = EditorView.theme({
  "&": { height: "100%", color: "var(--text)", backgroundColor: "var(--paper)" },
  ".cm-scroller": { fontFamily: "var(--mono)" },
  ".cm-gutters": { color: "var(--dim)", backgroundColor: "var(--shade)" },
  ".cm-lineNumbers .cm-gutterElement": { cursor: "pointer" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--shade)" },
  ".cm-content": { caretColor: "var(--text)" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-tooltip": { color: "var(--text)", backgroundColor: "var(--shade)" },
});

export interface Hooks {
  changed(text: string): void;
  /** The user asks about a line, counted from 1. */
  asked(line: number): void;
}

export class Editor {
  private readonly view: EditorView;

  constructor(parent: HTMLElement, private readonly hooks: Hooks) {
    this.view = new EditorView({ parent });
  }

  open(name: string, text: string): void {
    const language = LANGUAGES.find(([names]) => names.test(name))?.[1]();
    const line = (view: EditorView, at: number) => this.hooks.asked(view.state.doc.lineAt(at).number);
    const extensions = [
      keymap.of([{ key: "Alt-Enter", run: (view) => (line(view, view.state.selection.main.head), true) }]),
      lineNumbers({ domEventHandlers: { click: (view, block) => (line(view, block.from), true) } }),
      basicSetup,
      lintGutter(),
      THEME,
      syntaxHighlighting(classHighlighter),
      EditorView.lineWrapping,
      EditorView.contentAttributes.of({ "aria-label": `Text of ${name}`, tabindex: "0" }),
      EditorView.updateListener.of((update) => {
        if (update.docChanged) {
          this.hooks.changed(update.state.doc.toString());
        }
      }),
    ];
    this.view.setState(EditorState.create({ doc: text, extensions: [extensions, language ?? []] }));
  }

  mark(marks: Diagnostic[]): void {
    const end = this.view.state.doc.length;
    const within = marks.map((mark) => ({ ...mark, from: Math.min(mark.from, end), to: Math.min(mark.to, end) }));
    this.view.dispatch(setDiagnostics(this.view.state, within));
  }

  select(from: number, to: number): void {
    const end = this.view.state.doc.length;
    const selection = { anchor: Math.min(from, end), head: Math.min(to, end) };
    this.view.dispatch({ selection, effects: EditorView.scrollIntoView(selection.anchor, { y: "center" }) });
    this.view.focus();
  }
}
