//! What was read again for edits, kept for the next one: a file of many findings is met as often as it has findings.
//!
//! Each thread keeps its own, of the last files alone. It does not know what is kept.

use crate::source::SourceFile;
use std::any::Any;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

/// As many as one module has files, or one template has neighbours, most of the time.
const MOST: usize = 24;

thread_local! {
    /// The file and what was made of it, the last met first.
    static KEPT: RefCell<Vec<(Arc<SourceFile>, Rc<dyn Any>)>> = const { RefCell::new(Vec::new()) };
}

/// What `read` makes of `file`, read once. `T` tells apart what is made of one file.
pub(in crate::frontend) fn kept<T: Any>(file: &Arc<SourceFile>, read: impl FnOnce() -> T) -> Rc<T> {
    let known = KEPT.with_borrow_mut(|kept| {
        let at = kept
            .iter()
            .position(|(of, made)| Arc::ptr_eq(of, file) && made.is::<T>())?;
        if let Some(before) = kept.get_mut(..=at) {
            before.rotate_right(1);
        }
        kept.first()?.1.clone().downcast::<T>().ok()
    });
    known.unwrap_or_else(|| {
        // Reading may ask for what is kept.
        let made = Rc::new(read());
        KEPT.with_borrow_mut(|kept| {
            kept.truncate(MOST - 1);
            kept.insert(0, (file.clone(), made.clone()));
        });
        made
    })
}

/// Forgets everything that this thread keeps.
pub(super) fn forget() {
    KEPT.with_borrow_mut(Vec::clear);
}
