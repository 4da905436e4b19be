//! A form for the object that an ask of mode `input` wants: one field per property of its schema.
//!
//! Pure: schema → fields → page, and posted fields → the typed answer.

mod draw;
mod field;
mod parse;

pub(super) use draw::draw;
pub(in super::super) use field::{Field, Kind, fields};
pub(super) use parse::answer;

#[cfg(test)]
mod tests;
