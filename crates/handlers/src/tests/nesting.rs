//! Tests of hostile nesting.

use crate::read::nesting::Refusal;
use crate::read::syntax::Module;
use crate::read::{python, script};

type Read = fn(&str) -> Result<Module, Refusal>;

/// Constructs that nest: language, text before the inner part, innermost text, and text after it.
const NESTED: [(&str, &str, &str, &str); 56] = [
    ("py", "(", "1", ")"),
    ("py", "[", "1", "]"),
    ("py", "{1: ", "1", "}"),
    ("py", "f(", "1", ")"),
    ("py", "not ", "1", ""),
    ("py", "-", "1", ""),
    ("py", "~", "1", ""),
    ("py", "await ", "1", ""),
    ("py", "lambda: ", "1", ""),
    ("py", "1 if 1 else ", "1", ""),
    ("py", "1 + ", "1", ""),
    ("py", "", "1", " + 1"),
    ("py", "", "1", " ** 1"),
    ("py", "", "1", " < 1"),
    ("py", "", "1", " and 1"),
    ("py", "", "a", ".b"),
    ("py", "", "a", "()"),
    ("py", "", "a", "[1]"),
    ("py", "f\"{", "1", "}\""),
    ("py", "f'''{", "1", "}'''"),
    ("py", "f\"{1:{", "1", "}}\""),
    ("py", "[1 for a in ", "1", "]"),
    ("py", "*", "1", ""),
    ("py", "(a := ", "1", ")"),
    ("js", "(", "1", ")"),
    ("js", "[", "1", "]"),
    ("js", "({a: ", "1", "})"),
    ("js", "f(", "1", ")"),
    ("js", "new a(", "1", ")"),
    ("js", "a => ", "1", ""),
    ("js", "async () => ", "1", ""),
    ("js", "() => { return ", "1", "; }"),
    ("js", "function () { return ", "1", "; }"),
    ("js", "class { a = ", "1", "; }"),
    ("js", "`${", "1", "}`"),
    ("js", "!", "1", ""),
    ("js", "- ", "1", ""),
    ("js", "typeof ", "1", ""),
    ("js", "typeof\n", "1", ""),
    ("js", "await ", "1", ""),
    ("js", "1 ? 1 : ", "1", ""),
    ("js", "1 + ", "1", ""),
    ("js", "", "1", " + 1"),
    ("js", "", "1", "\n+ 1"),
    ("js", "", "1", " ?? 1"),
    ("js", "", "a", ".b"),
    ("js", "", "a", "\n.b()"),
    ("js", "", "a", "?.b"),
    ("js", "", "a", "()"),
    ("js", "", "a", "[1]"),
    ("js", "", "a", "``"),
    ("js", "", "a", "!"),
    ("js", "a = ", "1", ""),
    ("js", "", "1", " as any"),
    ("js", "<any>", "1", ""),
    ("js", "/a/.test(", "1", ")"),
];

/// Statements and types that nest, with the same parts; `{}` is the indentation of a level in Python.
const STATEMENTS: [(&str, &str, &str, &str); 20] = [
    ("js", "if (a) ", "b();", ""),
    ("js", "if (a)\n", "b();", ""),
    ("js", "if (a) {} else ", "b();", ""),
    ("js", "if (a) { ", "b();", " }"),
    ("js", "for (;;) ", "b();", ""),
    ("js", "for (const a of b) ", "b();", ""),
    ("js", "while (a)\n", "b();", ""),
    ("js", "do ", "b();", " while (a);"),
    ("js", "{", "b();", "}"),
    ("js", "a: ", "b();", ""),
    ("js", "try { ", "b();", " } finally {}"),
    ("js", "switch (a) { case 1: ", "b();", " }"),
    ("js", "function a() { ", "b();", " }"),
    ("js", "type A = [", "1", "];"),
    ("js", "type A = B<", "1", ">;"),
    ("js", "type A = B<1, ", "1", ">;"),
    ("js", "type A = { a: ", "1", " };"),
    ("js", "type A = () => ", "1", ";"),
    ("js", "type A = keyof ", "B", ";"),
    ("js", "type A = B extends C ? D : ", "1", ";"),
];

/// Returns the construct nested `depth` times, as a statement.
fn nested((language, open, inner, close): (&str, &str, &str, &str), depth: usize) -> (Read, String) {
    // Only the first of several types is a declaration.
    let (head, open) = match open.strip_prefix("type A = ") {
        Some(rest) => ("type A = ", rest),
        None if inner == "b();" => ("", open),
        None => ("x = ", open),
    };
    let (close, tail) = match close.strip_suffix(';') {
        Some(rest) if head == "type A = " => (rest, ";"),
        _ => (close, ""),
    };
    let text = format!("{head}{}{inner}{}{tail}\n", open.repeat(depth), close.repeat(depth));
    (if language == "py" { python::read } else { script::read }, text)
}

#[test]
fn deep_nesting_of_every_construct_is_refused_before_parsing() {
    for construct in NESTED.into_iter().chain(STATEMENTS) {
        for depth in [700, 20_000] {
            let (read, text) = nested(construct, depth);
            assert_eq!(read(&text).err(), Some(Refusal::TooDeep), "{construct:?}");
        }
        let (read, text) = nested(construct, 3);
        assert!(!matches!(read(&text), Err(Refusal::TooDeep)), "{construct:?}");
    }
}

/// Characters that the parsers skip must not look like words, which end statements and hide prefixes.
#[test]
fn spaces_outside_of_ascii_hide_no_nesting() {
    for space in [
        "\u{feff}", "\u{a0}", "\u{85}", "\u{1680}", "\u{200b}", "\u{2028}", "\u{2029}", "\u{3000}",
    ] {
        for nested in [
            "typeof_",
            "_\na<\n",
            "a<_",
            "a_<\n",
            "if(a)_\n",
            "_a.b(_",
            "await_\n_",
            "new_new ",
        ] {
            let text = nested.replace('_', space).repeat(20_000);
            assert!(script::read(&text).is_err(), "{nested:?} {space:?}");
        }
        for nested in ["not_", "(_", "-_\\\n", "a if b else_", "lambda:_"] {
            let text = nested.replace('_', space).repeat(20_000);
            assert!(python::read(&text).is_err(), "{nested:?} {space:?}");
        }
    }
}

#[test]
fn signs_without_an_operand_hide_no_nesting() {
    for nested in [
        "\\\ndo ", "\\\na?", "\\ if(a)", "\\x\na:", "++\na?", "a?\n--\n", "a?++\n",
    ] {
        assert!(script::read(&nested.repeat(20_000)).is_err(), "{nested:?}");
    }
    assert!(script::read(&"let \\u0061 = i++\n++i\n".repeat(2_000)).is_ok());
}

#[test]
fn blocks_of_python_are_refused_by_indentation() {
    let blocks = |depth: usize| -> String {
        let lines = (0..depth).map(|level| format!("{}if a:\n", " ".repeat(level)));
        lines.collect::<String>() + &" ".repeat(depth) + "pass\n"
    };
    assert_eq!(python::read(&blocks(300)).err(), Some(Refusal::TooDeep));
    assert!(python::read(&blocks(50)).is_ok());
}

#[test]
fn long_files_without_deep_nesting_are_read() {
    let lines = |line: &str| line.repeat(2_000);
    for text in [
        "value = [1, 2, (3, 4)]\n",
        "if a:\n    b(c, d)\nelif e:\n    f.g.h()\n",
        "name = f\"{a}{b!r:>10} {c:{d}}\"\n",
        "print('((((' \"[[[[\")  # {{{{\n",
        "\"\"\"((((\n\"\"\"\n",
        "a = 1 + \\\n    2\n",
    ] {
        assert!(python::read(&lines(text)).is_ok(), "{text}");
    }
    for text in [
        "const a = [1, 2, (3, 4)]\n",
        "if (a) { b(c) } else if (d) { e.f() }\n",
        "call('((((', \"[[[[\", `{{{{ ${a} ${`${b}`}`)  // ((((\n",
        "const a = b / c / d; /* (((( */\n",
        "const a = /[(/]\\(/.test(b) ? /\\[/ : c\n",
        "a.b()\n  .c()\n  .d()\n",
        "const a = b as C<D, E>;\n",
        "i++\n",
        "export const handler = async (event: Event): Promise<void> => { await a(event); };\nlet b = 1;\n",
    ] {
        let text = lines(text).replace("export const handler", "const handler");
        // Declarations of one name repeat; each is in a block.
        let text: String = text.lines().map(|line| format!("{line}\n")).collect();
        let read = script::read(&text);
        assert!(!matches!(read, Err(Refusal::TooDeep)), "{text:.80}");
    }
}

#[test]
fn strings_and_regular_expressions_hide_no_nesting() {
    let deep = "(".repeat(5_000);
    for text in [
        format!("a = b / 1 + {deep}"),
        format!("a = /'/; {deep}"),
        format!("if (a) /`/.b; {deep}"),
        format!("a = `${{b}}`; {deep}"),
        format!("// \u{2028}{deep}"),
        format!("a = '\\\n'; {deep}"),
        format!("a = {{}} / 1 + {deep}"),
        format!("a++ / 1 + {deep}"),
        format!("a! / 1 + {deep}"),
    ] {
        assert!(script::read(&text).is_err(), "{text:.40}");
    }
    for text in [
        format!("a = f\"{{b:'}}\"; {deep}"),
        format!("a = f\"{{b:=({deep}"),
        format!("a = rb'\\'; {deep}'\n{deep}"),
        format!("a = '''b'c'''; {deep}"),
        format!("# a\r{deep}"),
    ] {
        assert!(python::read(&text).is_err(), "{text:.40}");
    }
}
