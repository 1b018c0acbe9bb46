import Dispatch
import Foundation
import Reprise
import RepriseProxy

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Notes to the service manager that started this process (sd_notify(3)): datagrams to the socket that
/// `NOTIFY_SOCKET` names.
struct NotifySocket: Sendable {
    /// What the manager is told.
    enum Note: Equatable {
        /// It serves; what it says of itself.
        case ready(String)
        /// It opens its files again, from this moment of the monotonic clock, in microseconds.
        case reloading(at: UInt64)
        /// It ends, which takes at most so long.
        case stopping(atMost: Duration)
        /// Everything that must turn does.
        case watchdog

        /// The datagram.
        var text: String {
            switch self {
            case .ready(let status): "READY=1\nSTATUS=\(status)\n"
            case .reloading(let moment): "RELOADING=1\nMONOTONIC_USEC=\(moment)\n"
            case .stopping(let time):
                "STOPPING=1\nSTATUS=Answers in progress end.\nEXTEND_TIMEOUT_USEC=\(time.microseconds)\n"
            case .watchdog: "WATCHDOG=1\n"
            }
        }
    }

    /// The address in the form of the kernel: a path, or a name that begins with a zero byte.
    let address: [UInt8]
    /// A full socket lets its writer wait, which no event loop and no thread of the cooperative pool may.
    private let queue = DispatchQueue(label: "reprise.notify")

    /// The socket that `variable` names: an absolute path, or `@` and a name outside the file system.
    ///
    /// `nil` for every other form, and for what is too long for an address.
    init?(_ variable: String?) {
        guard let variable, variable.utf8.count > 1, variable.utf8.count < UnixSocket.longestName else { return nil }
        switch variable.utf8.first {
        case UInt8(ascii: "/"): address = Array(variable.utf8)
        case UInt8(ascii: "@"): address = [0] + variable.utf8.dropFirst()
        default: return nil
        }
    }

    /// How long a full socket is waited for, in seconds.
    private static let patience = 5

    /// Sends `note` soon, after those before it; `isTaken` hears whether the manager took it.
    func post(_ note: Note, isTaken: @escaping @Sendable (Bool) -> Void = { _ in }) {
        queue.async { isTaken(deliver(Array(note.text.utf8))) }
    }

    private func deliver(_ bytes: [UInt8]) -> Bool {
        guard let descriptor = UnixSocket.open(.datagrams) else { return false }
        defer { close(descriptor) }
        var limit = timeval(tv_sec: Self.patience, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        return UnixSocket.withAddress(address) { sendto(descriptor, bytes, bytes.count, 0, $0, $1) } == bytes.count
    }
}

extension Duration {
    /// Whole microseconds; zero for what is below zero.
    var microseconds: UInt64 { UInt64(max(0, self / .microseconds(1))) }
}
