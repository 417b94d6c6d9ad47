//! Sessions that are JSON documents, and the formats of agents that keep theirs in databases or exports.

use crate::check_all;
