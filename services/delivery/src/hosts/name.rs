//! A host's one spelling.

use ma2h::callback::host_text;
use ma2h::error::Problem;
use reqwest::Url;

/// A host in its normal form, the one that the host of a URL is compared with.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct HostName(String);

impl HostName {
    /// The normal form of what was typed.
    pub(crate) fn parse(typed: &str) -> Result<Self, Problem> {
        host_text(typed).map(Self)
    }

    /// As it is kept.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Its name without the port; none where it is an address.
    pub(crate) fn domain(&self) -> Option<String> {
        let url = Url::parse(&format!("https://{}/", self.0)).ok()?;
        url.domain().map(str::to_owned)
    }
}
