//! The certificate authority of a test run, which hubs, sinks and clients share.

pub use ma2h_hub::dev::certificates::Certificates;

use crate::run::Run;

/// Where the run's authority and its certificate for loopback are.
pub fn of_this_run() -> Certificates {
    Certificates::within(&Run::current().dir)
}

/// An HTTP client that trusts the run's authority and nobody else.
pub fn client() -> reqwest::Client {
    client_builder().build().expect("set up an HTTP client")
}

/// The same, for a test that needs it otherwise.
pub fn client_builder() -> reqwest::ClientBuilder {
    ma2h_hub::install_tls_provider();
    let pem = std::fs::read(of_this_run().ca).expect("read the run's authority");
    let authority = reqwest::Certificate::from_pem(&pem).expect("the run's authority is a certificate");
    // A test sees the redirect itself, and the cookie it may carry.
    let builder = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
    builder.tls_certs_only([authority]).no_proxy()
}
