import NIOCore
import Reprise

/// What a proxy is told and answers until the way to an origin is open: a value without a connection.
protocol ProxyNegotiation: Sendable {
    /// What is sent first.
    mutating func begin() -> ByteBuffer

    /// Takes what it understands from `bytes`.
    ///
    /// Throws the reason why there will be no way.
    mutating func receive(_ bytes: inout ByteBuffer) throws(RepriseError) -> ProxyStep
}

/// What follows in a ``ProxyNegotiation``.
enum ProxyStep: Equatable {
    /// More bytes have to arrive.
    case wait
    case send(ByteBuffer)
    /// The way is open: what follows comes from the origin.
    case finish
}
