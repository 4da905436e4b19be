//! A name server under a test's control.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hickory_resolver::proto::op::{Message, ResponseCode};
use hickory_resolver::proto::rr::rdata::{A, AAAA, TXT};
use hickory_resolver::proto::rr::{RData, Record, RecordType};
use tokio::net::UdpSocket;
use tokio_util::sync::{CancellationToken, DropGuard};

/// No question is longer.
const DATAGRAM_BYTES_MAX: usize = 4096;

/// Answers on loopback until it is dropped. What it has no records of, there is not.
pub struct NameServer {
    address: SocketAddr,
    zone: Arc<Mutex<Zone>>,
    _running: DropGuard,
}

/// Records by lower-case name without its last dot.
type Zone = BTreeMap<String, Vec<RData>>;

impl NameServer {
    /// One that knows no name.
    pub async fn start() -> Self {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))
            .await
            .expect("bind a name server");
        let address = socket.local_addr().expect("a name server's address");
        let zone = Arc::<Mutex<Zone>>::default();
        let stop = CancellationToken::new();
        let serving = stop
            .clone()
            .run_until_cancelled_owned(serve(socket, Arc::clone(&zone)));
        tokio::spawn(serving);
        Self {
            address,
            zone,
            _running: stop.drop_guard(),
        }
    }

    /// Where it listens, as a hub is told.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// From now on a name has these addresses and no others.
    pub fn set_addresses(&self, name: &str, addresses: &[IpAddr]) {
        let records = addresses.iter().map(|address| match address {
            IpAddr::V4(address) => RData::A(A(*address)),
            IpAddr::V6(address) => RData::AAAA(AAAA(*address)),
        });
        self.set(name, records.collect());
    }

    /// From now on a name has these texts and no others.
    pub fn set_texts(&self, name: &str, texts: &[&str]) {
        let records = texts
            .iter()
            .map(|text| RData::TXT(TXT::new(vec![(*text).to_owned()])));
        self.set(name, records.collect());
    }

    fn set(&self, name: &str, records: Vec<RData>) {
        lock(&self.zone).insert(name.to_owned(), records);
    }
}

async fn serve(socket: UdpSocket, zone: Arc<Mutex<Zone>>) {
    let mut datagram = [0; DATAGRAM_BYTES_MAX];
    loop {
        let Ok((length, peer)) = socket.recv_from(&mut datagram).await else {
            continue;
        };
        let answer = Message::from_vec(&datagram[..length]).map(|question| answer(&question, &lock(&zone)));
        if let Ok(answer) = answer
            && let Ok(bytes) = answer.to_vec()
        {
            socket.send_to(&bytes, peer).await.ok();
        }
    }
}

fn answer(question: &Message, zone: &Zone) -> Message {
    let mut answer = Message::response(question.metadata.id, question.metadata.op_code);
    answer.metadata.recursion_available = true;
    answer.add_queries(question.queries.iter().cloned());
    let Some(query) = question.queries.first() else {
        return answer;
    };
    let name = query.name.to_ascii().to_lowercase();
    match zone.get(name.trim_end_matches('.')) {
        None => answer.metadata.response_code = ResponseCode::NXDomain,
        Some(records) => {
            let fits = |record: &&RData| {
                record.record_type() == query.query_type || query.query_type == RecordType::ANY
            };
            for record in records.iter().filter(fits) {
                answer.add_answer(Record::from_rdata(query.name.clone(), 60, record.clone()));
            }
        }
    }
    answer
}

fn lock(zone: &Mutex<Zone>) -> MutexGuard<'_, Zone> {
    zone.lock().unwrap_or_else(PoisonError::into_inner)
}
