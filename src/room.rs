//! Room in the memory of a wasm instance. Whenever that grows, the host collects garbage: so it is to grow rarely, and by
//! much.

use std::hint::black_box;

/// Below this the allocator may ask for what it needs.
const LEAST: usize = 1 << 20;

/// What is kept, and how much more has room.
#[derive(Default)]
pub struct Room {
    kept: usize,
    left: usize,
}

impl Room {
    /// Makes room for half as much again: for what is made of all that is kept.
    #[cfg(feature = "importers")]
    pub fn make_half(&mut self) {
        self.make(self.kept / 2);
    }

    /// Makes room for `bytes` more that will be kept. It is taken and given back at once: the allocator keeps it.
    pub fn make(&mut self, bytes: usize) {
        self.kept += bytes;
        if bytes <= self.left {
            self.left -= bytes;
        } else if self.kept > LEAST {
            // Pages that nothing was written to cost nothing but addresses.
            let more = bytes.max(self.kept / 2);
            let mut room: Vec<u8> = Vec::new();
            // Where there is no more, whoever needs it will say so.
            if room.try_reserve_exact(more).is_ok() {
                self.left = more - bytes;
            }
            black_box(room);
        }
    }
}
