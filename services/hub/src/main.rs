//! `ma2h-hub`; see the library.

use std::process::ExitCode;

#[tokio::main]
async fn main() -> ExitCode {
    ma2h_hub::cli::run().await.unwrap_or_else(|error| {
        eprintln!("ma2h-hub: {error:#}");
        ExitCode::FAILURE
    })
}
