//! What is wrong with files, whatever their format.

use crate::check_all;

#[test]
fn broken_files_are_read_as_far_as_they_go() {
    check_all("import/files.json", 47);
}
