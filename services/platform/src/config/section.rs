//! How a section of the configuration is declared: each field once, and everything else follows from it.

use std::fmt;

use super::Error;
use super::source::Source;
use super::value::Value;

/// What is known of one field without its value.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// The table of the TOML file it stands in.
    pub table: &'static str,
    /// Its key in that table.
    pub name: &'static str,
    /// The environment variable that sets it.
    pub variable: &'static str,
    /// What it is when nothing sets it; empty where there is none.
    pub default: &'static str,
    /// What it counts, or what kind of value it takes.
    pub unit: &'static str,
    /// The smallest and largest number allowed.
    pub range: Option<(u64, u64)>,
    /// Whether it is masked when printed and may be read from a file.
    pub secret: bool,
    /// What it does.
    pub doc: &'static str,
}

impl Field {
    /// The variable that names a file holding the value; secrets only.
    pub fn file_variable(&self) -> Option<String> {
        self.secret.then(|| format!("{}_FILE", self.variable))
    }
}

impl fmt::Display for Field {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let default = if self.default.is_empty() {
            "unset"
        } else {
            self.default
        };
        let also = if self.secret { " (or …_FILE)" } else { "" };
        let range = self
            .range
            .map(|(min, max)| format!(", {min} to {max}"))
            .unwrap_or_default();
        write!(
            out,
            "{}{also}\n    {}\n    ",
            self.variable,
            self.doc.trim().replace('`', "")
        )?;
        write!(
            out,
            "{}.{}, {}{range}, default {default}",
            self.table, self.name, self.unit
        )
    }
}

/// A part of the configuration that stands in one table.
pub trait Section: Sized {
    /// Its fields, in the order they are documented.
    const FIELDS: &'static [Field];

    /// Reads the fields, each from what sets it or from its default.
    fn load(source: &Source) -> Result<Self, Error>;

    /// The values as text, in the order of the fields. Secrets are in the clear.
    fn texts(&self) -> Vec<String>;
}

/// Reads one field and holds it to its range.
pub(super) fn read<T: Value>(source: &Source, field: &Field) -> Result<T, Error> {
    let (text, origin) = source.text_of(field);
    let invalid = |expected: String| Error::Invalid {
        name: origin.to_owned(),
        expected,
    };
    let value = T::parse(text).map_err(invalid)?;
    match field.range {
        Some((min, max)) if !value.is_within(min, max) => {
            Err(invalid(format!("{min} to {max} ({})", field.unit)))
        }
        _ => Ok(value),
    }
}

/// Declares a section: a struct whose fields each name their variable, default, unit and range.
macro_rules! section {
    (
        $(#[doc = $section_doc:literal])+
        $section:ident in $table:literal {
            $(
                $(#[doc = $doc:literal])+
                $name:ident: $kind:ty = $variable:literal, $default:literal, $unit:literal
                    $(, $min:literal to $max:literal)?;
            )+
        }
    ) => {
        $(#[doc = $section_doc])+
        #[derive(Clone, Debug)]
        pub struct $section {
            $(
                $(#[doc = $doc])+
                #[doc = ""]
                #[doc = concat!("`", $variable, "`, ", $unit, $(", ", $min, " to ", $max,)? "; default `", $default, "`")]
                pub $name: $kind,
            )+
        }

        impl $crate::config::Section for $section {
            const FIELDS: &'static [$crate::config::Field] = &[$(
                $crate::config::Field {
                    table: $table,
                    name: stringify!($name),
                    variable: $variable,
                    default: $default,
                    unit: $unit,
                    range: $crate::config::section::section!(@range $($min to $max)?),
                    secret: <$kind as $crate::config::Value>::SECRET,
                    doc: concat!($($doc),+),
                },
            )+];

            fn load(source: &$crate::config::Source) -> Result<Self, $crate::config::Error> {
                let mut fields = Self::FIELDS.iter();
                Ok(Self {
                    $($name: $crate::config::section::read_next(source, &mut fields)?,)+
                })
            }

            fn texts(&self) -> Vec<String> {
                vec![$($crate::config::Value::text(&self.$name),)+]
            }
        }
    };
    (@range) => { None };
    (@range $min:literal to $max:literal) => { Some(($min, $max)) };
}

/// Reads the field that comes next: the macro walks `FIELDS` in the order it declared them.
pub(super) fn read_next<'a, T: Value>(
    source: &Source,
    fields: &mut impl Iterator<Item = &'a Field>,
) -> Result<T, Error> {
    match fields.next() {
        Some(field) => read(source, field),
        None => Err(Error::Unknown {
            name: "a field beyond the section's list".to_owned(),
        }),
    }
}

pub(crate) use section;
