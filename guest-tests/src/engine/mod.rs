//! Engines that execute guests.
