/// How a connection came in.
enum Entrance: Equatable, Sendable {
    /// Through the port.
    case port
    /// Through the port, beyond the limit: it is answered with 503.
    case surplus
    /// Through the control socket, from a user who may control this server.
    case socket
}
