//! Guards look at a plan, let it pass, or refuse it with a reason. They never repair.

pub mod pairing;
pub mod signatures;
