//! Serving gRPC.

use tokio::net::TcpListener;
use tonic::service::Routes;

use super::Error;
use crate::health::Readiness;
use crate::shutdown::Shutdown;

/// Serves the routes and the health service until shutdown, then finishes the calls in hand.
pub async fn serve(
    listener: TcpListener,
    routes: Routes,
    readiness: Readiness,
    shutdown: Shutdown,
) -> Result<(), Error> {
    let _ = (listener, routes, readiness, shutdown);
    todo!()
}
