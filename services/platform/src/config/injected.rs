//! Variables that a Kubernetes cluster puts into every container for its services, which are not ours.

/// Whether Kubernetes set it for a service whose name begins with `hub`.
pub(super) fn by_kubernetes(name: &str, value: &str) -> bool {
    // `HUB_SERVICE_HOST` belongs to a service named `hub`, `HUB_GATEWAY_SERVICE_HOST` to `hub-gateway`.
    if name.ends_with("_SERVICE_HOST") {
        return true;
    }
    if let Some((_, port)) = name.split_once("_SERVICE_PORT") {
        return port.is_empty() || port.starts_with('_');
    }
    let Some((_, port)) = name.split_once("_PORT") else {
        return false;
    };
    // `…_PORT` itself is `tcp://…` then, which no port number is; its parts carry protocol, port and address.
    let is_url = ["tcp://", "udp://", "sctp://"]
        .iter()
        .any(|scheme| value.starts_with(scheme));
    let is_part = ["_PROTO", "_PORT", "_ADDR"].iter().any(|part| {
        let number_and_protocol = port.strip_suffix(part).and_then(|rest| rest.strip_prefix('_'));
        number_and_protocol.is_some_and(is_port_and_protocol)
    });
    is_url || is_part
}

/// `8443_TCP`.
fn is_port_and_protocol(text: &str) -> bool {
    text.split_once('_').is_some_and(|(port, protocol)| {
        port.parse::<u16>().is_ok() && matches!(protocol, "TCP" | "UDP" | "SCTP")
    })
}

#[cfg(test)]
mod tests {
    use super::by_kubernetes;

    #[test]
    fn what_kubernetes_injects_is_told_from_what_an_operator_sets() {
        let injected = [
            ("HUB_SERVICE_HOST", "10.0.0.1"),
            ("HUB_SERVICE_PORT", "443"),
            ("HUB_PORT", "tcp://10.0.0.1:443"),
            ("HUB_PORT_443_TCP", "tcp://10.0.0.1:443"),
            ("HUB_PORT_443_TCP_ADDR", "10.0.0.1"),
            ("HUB_PORT_443_TCP_PORT", "443"),
            ("HUB_PORT_443_TCP_PROTO", "tcp"),
            ("HUB_GATEWAY_SERVICE_PORT_HTTPS", "8443"),
            ("HUB_GATEWAY_PORT_8443_TCP_PROTO", "tcp"),
        ];
        for (name, value) in injected {
            assert!(by_kubernetes(name, value), "{name}={value}");
        }
        let set = [
            ("HUB_PORT", "8443"),
            ("HUB_PORTS", "1"),
            ("HUB_PORT_ADDR", "x"),
            ("HUB_SERVICE_PORTAL", "x"),
        ];
        for (name, value) in set {
            assert!(!by_kubernetes(name, value), "{name}={value}");
        }
    }
}
