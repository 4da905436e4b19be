//! Where the text of each field comes from: the file, then the environment over it.

use std::collections::HashMap;
use std::path::Path;

use super::section::Field;
use super::{Error, injected};

/// The variable that names the TOML file.
const FILE_VARIABLE: &str = "HUB_CONFIG";
/// What every variable of the hub begins with.
const PREFIX: &str = "HUB_";
/// A secret or configuration file larger than this is not one.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// The text of the fields that something sets, with the name under which it was set.
#[derive(Debug, Default)]
pub struct Source {
    by_variable: HashMap<&'static str, Setting>,
}

struct Setting {
    text: String,
    /// The variable or `table.key`, as a person finds it again.
    origin: String,
}

impl std::fmt::Debug for Setting {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.origin)
    }
}

impl Source {
    /// Reads the file that `HUB_CONFIG` names, if it does, and then the variables.
    pub(super) fn read(
        fields: &[&'static Field],
        variables: impl Iterator<Item = (String, String)>,
    ) -> Result<Self, Error> {
        let mut of_hub: Vec<_> = variables
            .filter(|(name, value)| name.starts_with(PREFIX) && !injected::by_kubernetes(name, value))
            .collect();
        of_hub.sort();

        let mut source = Self::default();
        if let Some((_, path)) = of_hub.iter().find(|(name, _)| name == FILE_VARIABLE) {
            let text = read_file(FILE_VARIABLE, Path::new(path))?;
            source.add_toml(fields, &text)?;
        }
        source.add_variables(fields, of_hub)?;
        Ok(source)
    }

    /// What sets a field, or its default, and the name to complain under.
    pub(super) fn text_of<'a>(&'a self, field: &'a Field) -> (&'a str, &'a str) {
        match self.by_variable.get(field.variable) {
            Some(setting) => (&setting.text, &setting.origin),
            None => (field.default, field.variable),
        }
    }

    fn add_toml(&mut self, fields: &[&'static Field], text: &str) -> Result<(), Error> {
        let document: toml::Table = text.parse().map_err(|error: toml::de::Error| Error::Toml {
            // The message alone: the rendered error quotes the line, which may hold a secret.
            message: error.message().to_owned(),
        })?;
        for (table, content) in document {
            let toml::Value::Table(content) = content else {
                return Err(Error::Unknown { name: table });
            };
            for (key, value) in content {
                self.add_toml_key(fields, &table, &key, value)?;
            }
        }
        Ok(())
    }

    fn add_toml_key(
        &mut self,
        fields: &[&'static Field],
        table: &str,
        key: &str,
        value: toml::Value,
    ) -> Result<(), Error> {
        let origin = format!("{table}.{key}");
        let text = toml_text(&origin, value)?;
        let of_table = || fields.iter().filter(|field| field.table == table);
        if let Some(field) = of_table().find(|field| field.name == key) {
            return self.set(field, text, origin);
        }
        let secret = of_table().find(|field| field.secret && key.strip_suffix("_file") == Some(field.name));
        let Some(field) = secret else {
            return Err(Error::Unknown { name: origin });
        };
        let text = read_file(&origin, Path::new(&text))?;
        self.set(field, text, origin)
    }

    fn add_variables(
        &mut self,
        fields: &[&'static Field],
        variables: Vec<(String, String)>,
    ) -> Result<(), Error> {
        let mut of_environment = Self::default();
        for (name, text) in variables {
            if name == FILE_VARIABLE {
                continue;
            }
            if let Some(field) = fields.iter().find(|field| field.variable == name) {
                of_environment.set(field, text, name)?;
                continue;
            }
            let Some(field) = fields
                .iter()
                .find(|field| field.file_variable().as_ref() == Some(&name))
            else {
                return Err(Error::Unknown { name });
            };
            let text = read_file(&name, Path::new(&text))?;
            of_environment.set(field, text, name)?;
        }
        self.by_variable.extend(of_environment.by_variable);
        Ok(())
    }

    fn set(&mut self, field: &Field, text: String, origin: String) -> Result<(), Error> {
        let setting = Setting { text, origin };
        match self.by_variable.insert(field.variable, setting) {
            None => Ok(()),
            Some(earlier) => Err(Error::Twice {
                name: field.variable.to_owned(),
                origin: earlier.origin,
            }),
        }
    }
}

/// The text a TOML value stands for; a list becomes the comma list that a variable would hold.
fn toml_text(origin: &str, value: toml::Value) -> Result<String, Error> {
    match value {
        toml::Value::String(text) => Ok(text),
        toml::Value::Integer(number) => Ok(number.to_string()),
        toml::Value::Float(number) => Ok(number.to_string()),
        toml::Value::Boolean(flag) => Ok(flag.to_string()),
        toml::Value::Array(items) => {
            let texts: Result<Vec<_>, _> = items.into_iter().map(|item| toml_text(origin, item)).collect();
            Ok(texts?.join(","))
        }
        toml::Value::Table(_) | toml::Value::Datetime(_) => Err(Error::Invalid {
            name: origin.to_owned(),
            expected: "a text, number, flag or list".to_owned(),
        }),
    }
}

/// A file's text without the line end that editors add.
fn read_file(name: &str, path: &Path) -> Result<String, Error> {
    let unreadable = |reason: String| Error::File {
        name: name.to_owned(),
        path: path.to_owned(),
        reason,
    };
    let size = std::fs::metadata(path)
        .map_err(|error| unreadable(error.to_string()))?
        .len();
    if size > FILE_BYTES_MAX {
        return Err(unreadable(format!("larger than {FILE_BYTES_MAX} bytes")));
    }
    let text = std::fs::read_to_string(path).map_err(|error| unreadable(error.to_string()))?;
    Ok(text.trim_end_matches(['\r', '\n']).to_owned())
}
