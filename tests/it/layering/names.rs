//! Extracts the paths in a file, in every form: imports with nested groups and globs, full paths in expressions, types
//! and attributes, and token sequences in macros that look like paths. Items for tests are skipped.

use proc_macro2::{TokenStream, TokenTree};
use std::collections::BTreeMap;
use syn::visit::{self, Visit};
use syn::{Attribute, ImplItem, Item, ItemMod, ItemUse, Meta, Token, UseTree};

/// Segments of a path, as written or resolved.
pub(super) type Path = Vec<String>;

/// Names in one module, which is a file or inline.
#[derive(Default)]
pub(super) struct Names {
    /// Imported names, with their paths.
    pub(super) aliases: BTreeMap<String, Path>,
    /// Modules imported by a glob.
    pub(super) globs: Vec<Path>,
    /// Every path with more than one segment, and every import.
    pub(super) paths: Vec<Path>,
    /// Methods called without arguments.
    pub(super) bare_calls: Vec<String>,
    /// Modules in separate files.
    pub(super) files: Vec<String>,
    /// Inline modules.
    pub(super) inner: Vec<(String, Names)>,
    /// Test modules, in either form.
    pub(super) tests: Vec<String>,
}

impl Names {
    pub(super) fn of(items: &[Item]) -> Self {
        let mut names = Names::default();
        for item in items {
            names.visit_item(item);
        }
        names
    }

    fn import(&mut self, start: &[String], tree: &UseTree) {
        let longer = |name: &str| [start, &[name.to_owned()]].concat();
        match tree {
            UseTree::Path(path) => self.import(&longer(&path.ident.to_string()), &path.tree),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.import(start, tree)),
            UseTree::Glob(_) => {
                self.globs.push(start.to_vec());
                self.paths.push(longer("*"));
            }
            UseTree::Name(name) if name.ident == "self" => self.bind(start.last().cloned(), start.to_vec()),
            UseTree::Name(name) => self.bind(Some(name.ident.to_string()), longer(&name.ident.to_string())),
            UseTree::Rename(rename) if rename.ident == "self" => {
                self.bind(Some(rename.rename.to_string()), start.to_vec());
            }
            UseTree::Rename(rename) => self.bind(Some(rename.rename.to_string()), longer(&rename.ident.to_string())),
        }
    }

    fn bind(&mut self, name: Option<String>, path: Path) {
        self.paths.push(path.clone());
        self.aliases.extend(name.map(|name| (name, path)));
    }

    /// Extracts paths and method calls from the tokens of a macro or an attribute: names separated by `::`; groups in
    /// braces after `::` are expanded.
    fn tokens(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            match &tokens[at] {
                TokenTree::Group(group) => self.tokens(group.stream()),
                TokenTree::Ident(name) => {
                    let is_member = at > 0 && is_punctuation(&tokens, at - 1, '.');
                    let (path, end) = path_from(&tokens, at);
                    at = end;
                    match (is_member, tokens.get(end)) {
                        (true, Some(TokenTree::Group(group))) if group.stream().is_empty() => {
                            self.bare_calls.push(name.to_string());
                        }
                        (false, Some(TokenTree::Group(group))) if has_colons(&tokens, end.saturating_sub(2)) => {
                            self.group(&path, group.stream());
                            at += 1;
                        }
                        (false, _) if path.len() > 1 => self.paths.push(path),
                        _ => {}
                    }
                    continue;
                }
                _ => {}
            }
            at += 1;
        }
    }

    /// Expands `a::{b, c::D}`, where `tokens` is the content of the braces.
    fn group(&mut self, start: &[String], tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        for member in tokens.split(|token| matches!(token, TokenTree::Punct(mark) if mark.as_char() == ',')) {
            let (path, end) = path_from(member, 0);
            let path = [start, &path].concat();
            match member.get(end) {
                Some(TokenTree::Group(group)) if has_colons(member, end.saturating_sub(2)) => {
                    self.group(&path, group.stream());
                }
                _ => self.paths.push(path),
            }
        }
    }

    fn module(&mut self, module: &ItemMod) {
        let name = module.ident.to_string();
        match &module.content {
            Some((_, items)) => self.inner.push((name, Names::of(items))),
            None => self.files.push(name),
        }
    }
}

fn is_punctuation(tokens: &[TokenTree], at: usize, character: char) -> bool {
    matches!(tokens.get(at), Some(TokenTree::Punct(mark)) if mark.as_char() == character)
}

/// Returns `true` if there are two colons at `at`.
fn has_colons(tokens: &[TokenTree], at: usize) -> bool {
    is_punctuation(tokens, at, ':') && is_punctuation(tokens, at + 1, ':')
}

/// Returns the path that begins at `start`, and the index after it and its trailing colons.
fn path_from(tokens: &[TokenTree], start: usize) -> (Path, usize) {
    let (mut path, mut at) = (Path::new(), start);
    while let Some(TokenTree::Ident(name)) = tokens.get(at) {
        path.push(name.to_string());
        at += 1;
        if !has_colons(tokens, at) {
            break;
        }
        at += 2;
    }
    (path, at)
}

impl<'ast> Visit<'ast> for Names {
    fn visit_item(&mut self, item: &'ast Item) {
        if is_only_for_tests(attributes(item)) {
            if let Item::Mod(module) = item {
                self.tests.push(module.ident.to_string());
            }
            return;
        }
        match item {
            Item::Mod(module) => self.module(module),
            _ => visit::visit_item(self, item),
        }
    }

    fn visit_impl_item(&mut self, item: &'ast ImplItem) {
        let attributes = match item {
            ImplItem::Fn(item) => &item.attrs,
            ImplItem::Const(item) => &item.attrs,
            ImplItem::Type(item) => &item.attrs,
            _ => return visit::visit_impl_item(self, item),
        };
        if !is_only_for_tests(attributes) {
            visit::visit_impl_item(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        self.import(&[], &item.tree);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.segments.len() > 1 {
            let segments = path.segments.iter().map(|segment| segment.ident.to_string());
            self.paths.push(segments.collect());
        }
        visit::visit_path(self, path);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        if call.args.is_empty() {
            self.bare_calls.push(call.method.to_string());
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_macro(&mut self, given: &'ast syn::Macro) {
        self.visit_path(&given.path);
        self.tokens(given.tokens.clone());
    }

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        if let Meta::List(list) = &attribute.meta {
            // `cfg_attr(test, derive(…))` does not apply to a normal build.
            if !list.path.is_ident("cfg_attr") {
                self.tokens(list.tokens.clone());
            }
        }
    }

    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {
        // `pub(in crate::frontend)` does not use the module.
    }
}

/// Returns `true` if an item exists only in tests.
fn is_only_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::List(list) if list.path.is_ident("cfg") => list.parse_args().is_ok_and(|of: Meta| needs_test(&of)),
        meta => meta.path().is_ident("test"),
    })
}

/// Returns `true` if a `cfg` condition can hold only in tests.
fn needs_test(condition: &Meta) -> bool {
    let Meta::List(list) = condition else {
        return condition.path().is_ident("test");
    };
    let parser = syn::punctuated::Punctuated::<Meta, Token![,]>::parse_terminated;
    let members = list.parse_args_with(parser).unwrap_or_default();
    match list.path.get_ident().map(ToString::to_string).as_deref() {
        Some("all") => members.iter().any(needs_test),
        Some("any") => !members.is_empty() && members.iter().all(needs_test),
        _ => false,
    }
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::ExternCrate(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::ForeignMod(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::TraitAlias(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

#[test]
fn paths_are_found_in_every_form() {
    let text = r"
        use crate::a::{self, b::{C, D as E}, *};
        use super::super::f::G;
        pub(in crate::nothing) fn h(x: self::i::J) -> <K as crate::l::M>::N {
            vec![o::p(x.q(), y.r(1)), crate::s::{t, u::V}];
            w::x::<y::Z>().is_file()
        }
        #[cfg(test)]
        use crate::nothing::at::all;
        #[cfg(all(unix, test))]
        mod tests { use crate::nothing; }
        impl A {
            #[cfg(test)]
            fn a() { crate::nothing::a() }
        }
        #[derive(B::C)]
        struct D;
        mod e { use super::F; }
        mod g;
    ";
    let names = Names::of(&syn::parse_file(text).unwrap().items);
    let paths: std::collections::BTreeSet<String> = names.paths.iter().map(|path| path.join("::")).collect();
    let expected = "B::C crate::a crate::a::* crate::a::b::C crate::a::b::D crate::l::M::N crate::s::t crate::s::u::V \
                    o::p self::i::J super::super::f::G w::x y::Z";
    assert_eq!(paths.into_iter().collect::<Vec<_>>().join(" "), expected);
    assert_eq!(names.bare_calls, ["q", "is_file"]);
    assert_eq!(
        (names.files, names.tests),
        (vec!["g".to_owned()], vec!["tests".to_owned()])
    );
    assert_eq!(names.inner[0].1.paths, [["super", "F"]]);
    let alias = |name: &str| names.aliases[name].join("::");
    assert_eq!(
        (alias("a"), alias("E")),
        ("crate::a".to_owned(), "crate::a::b::D".to_owned())
    );
}
