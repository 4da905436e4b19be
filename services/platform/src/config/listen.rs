//! Where the tiers listen for each other, and the metrics.

use std::net::SocketAddr;

use super::section::section;

section! {
    /// Where the tiers listen for each other, and the metrics.
    Listen in "listen" {
        /// gRPC of lifecycle.
        lifecycle_addr: SocketAddr = "HUB_LIFECYCLE_ADDR", "127.0.0.1:7101", "address and port";
        /// gRPC of delivery.
        delivery_addr: SocketAddr = "HUB_DELIVERY_ADDR", "127.0.0.1:7102", "address and port";
        /// gRPC of presence.
        presence_addr: SocketAddr = "HUB_PRESENCE_ADDR", "127.0.0.1:7103", "address and port";
        /// Prometheus metrics, plain HTTP; none where unset.
        metrics_addr: Option<SocketAddr> = "HUB_METRICS_ADDR", "", "address and port";
        /// How long a process may take to finish what is in hand after it was asked to stop.
        shutdown_grace_seconds: u64 = "HUB_SHUTDOWN_GRACE_SECONDS", "20", "seconds", 0 to 600;
    }
}
