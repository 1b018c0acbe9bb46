import Dispatch
import Foundation
import Primitives
import Reprise

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Accepts connections on a port of one address, on a thread of its own, and keeps that port.
///
/// SwiftNIO cannot own this listener: it stops the process if the system has closed a descriptor that it uses. The
/// thread sleeps in `poll`, and only it touches the listener after the beginning.
final class Listener: Sendable {
    private struct State {
        /// Where a byte wakes the thread; `nil` once it has ended.
        var wake: CInt?
        /// Number of checks wanted so far.
        var wanted: UInt64 = 0
        var isEnding = false
        var waiters: [(check: UInt64, report: @Sendable (Bool) -> Void)] = []
        /// The listener's own descriptor.
        var descriptor: CInt
        var openings = 1
    }

    /// The port; stays the same when the listener is opened again.
    let port: Int
    fileprivate let host: IPv4Address
    fileprivate let clock: CacheClock
    private let state: Mutex<State>
    private let ended = Promise<Void>()

    /// Longest time that ``check()`` takes: that of a probe, of opening the listener, and of a busy processor.
    private static let checkTime = DispatchTimeInterval.milliseconds(1000)

    /// Listens on a free port of `host`, and calls `onConnection` with the descriptor of each client, which then owns
    /// it, and the client's address; `clock` shows when the process was suspended.
    ///
    /// Throws ``RepriseError`` with code `invalidArgument`.
    init(
        at host: IPv4Address = .loopback, clock: CacheClock,
        _ onConnection: @escaping @Sendable (CInt, IPv4Address, Listener) -> Void
    ) throws(RepriseError) {
        self.host = host
        self.clock = clock
        let socket = try ListeningSocket(at: host, port: 0)
        var ends: [CInt] = [-1, -1]
        guard pipe(&ends) == 0, ends.allSatisfy(ListeningSocket.prepare) else {
            let code = errno
            socket.closeIfOwn()
            throw RepriseError(.invalidArgument, "No pipe can be opened: \(String(cString: strerror(code))).")
        }
        port = socket.port
        state = Mutex(State(wake: ends[1], descriptor: socket.descriptor))
        let (wake, wakeEnd) = (ends[0], ends[1])
        let thread = Thread { [self] in
            ListenerThread(socket, wake: wake, owner: self, onConnection: onConnection).run()
            state.withLock { $0.wake = nil }
            close(wake)
            close(wakeEnd)
            report(isOpen: false)
            ended.fulfill()
        }
        thread.name = "reprise.listener"
        thread.qualityOfService = .userInitiated
        thread.start()
    }

    /// The listener's descriptor, for tests that close it.
    var descriptor: CInt { state.withLock { $0.descriptor } }

    /// Number of times that it was opened or its socket was mended.
    var openings: Int { state.withLock { $0.openings } }

    /// Whether the listener is open, having opened it again if the system had closed it.
    ///
    /// Blocks, usually for less than a millisecond, at most a second.
    func check() -> Bool {
        let done = DispatchSemaphore(value: 0)
        let isOpen = Mutex(false)
        request { result in
            isOpen.withLock { $0 = result }
            done.signal()
        }
        guard done.wait(timeout: .now() + Self.checkTime) == .success else { return false }
        return isOpen.withLock { $0 }
    }

    /// Has the listener examined, and opened again if the system has closed it, without waiting for that.
    func checkSoon() { request { _ in } }

    private func request(_ report: @escaping @Sendable (Bool) -> Void) {
        let isWoken = state.withLock { state in
            guard let wake = state.wake, !state.isEnding else { return false }
            state.wanted += 1
            state.waiters.append((state.wanted, report))
            Self.send(to: wake)
            return true
        }
        if !isWoken { report(false) }
    }

    /// Closes the listener, and returns when its thread has ended.
    func stop() async {
        state.withLock { state in
            state.isEnding = true
            if let wake = state.wake { Self.send(to: wake) }
        }
        await ended.value
    }

    /// A pipe that is full has woken the thread already.
    private static func send(to descriptor: CInt) {
        var byte: UInt8 = 0
        _ = write(descriptor, &byte, 1)
    }

    // MARK: - For the thread

    fileprivate var wish: (isEnding: Bool, checks: UInt64) { state.withLock { ($0.isEnding, $0.wanted) } }

    fileprivate func opened(_ socket: ListeningSocket) {
        state.withLock { state in
            state.descriptor = socket.descriptor
            state.openings += 1
        }
    }

    /// Tells those who wanted a check up to the one with this number.
    fileprivate func report(isOpen: Bool, to check: UInt64 = .max) {
        let waiters = state.withLock { state in
            let end = state.waiters.partition { $0.check <= check }
            defer { state.waiters.removeSubrange(end...) }
            return Array(state.waiters[end...])
        }
        for waiter in waiters { waiter.report(isOpen) }
    }
}

/// What a listener's thread does.
private final class ListenerThread {
    private let owner: Listener
    private let onConnection: @Sendable (CInt, IPv4Address, Listener) -> Void
    private let wake: CInt
    private var socket: ListeningSocket
    private var machine = ListenerMachine()
    /// The connection by which the thread finds out whether its listener accepts any.
    private var probe: (descriptor: CInt, port: Int)?
    /// The number of the last check that is under way.
    private var check: UInt64 = 0

    init(
        _ socket: ListeningSocket, wake: CInt, owner: Listener,
        onConnection: @escaping @Sendable (CInt, IPv4Address, Listener) -> Void
    ) {
        self.socket = socket
        self.wake = wake
        self.owner = owner
        self.onConnection = onConnection
    }

    func run() {
        var action = ListenerMachine.start
        while action != .end {
            action = machine.handle(perform(action))
            if let isOpen = machine.isOpen { owner.report(isOpen: isOpen, to: check) }
        }
        endProbe()
        socket.closeIfOwn()
    }

    private func perform(_ action: ListenerMachine.Action) -> ListenerMachine.Event {
        switch action {
        case .open: open()
        case .examine: mend() || socket.isListening ? probeIfAllowed() : .broken
        case .wait(let milliseconds, let accepting): wait(milliseconds, accepting: accepting)
        case .end: .endWanted
        }
    }

    /// Replaces a descriptor that the system has closed; false if none or both are closed.
    private func mend() -> Bool {
        guard let mended = socket.mended() else { return false }
        socket = mended
        owner.opened(mended)
        return true
    }

    private func open() -> ListenerMachine.Event {
        if mend() { return .opened }
        endProbe()
        socket.closeIfOwn()
        guard let opened = try? ListeningSocket(at: owner.host, port: owner.port) else { return .openingFailed }
        socket = opened
        owner.opened(opened)
        return .opened
    }

    /// Connections to an address of the local network, even to the device's own, may need the user's permission.
    private func probeIfAllowed() -> ListenerMachine.Event {
        owner.host == .loopback ? sendProbe() : .foundListening
    }

    private func sendProbe() -> ListenerMachine.Event {
        endProbe()
        let descriptor = Foundation.socket(AF_INET, IPv4SocketAddress.stream, 0)
        // An app without a descriptor for the probe has none for a new listener either.
        guard descriptor >= 0, ListeningSocket.prepare(descriptor) else {
            if descriptor >= 0 { close(descriptor) }
            return .crowded
        }
        guard IPv4SocketAddress(owner.host, port: socket.port).call(connect, descriptor) == 0 || errno == EINPROGRESS,
            let port = IPv4SocketAddress.port(of: descriptor)
        else {
            close(descriptor)
            return .broken
        }
        probe = (descriptor, port)
        return .probeSent
    }

    private func endProbe() {
        if let probe { close(probe.descriptor) }
        probe = nil
    }

    private func wait(_ milliseconds: Int, accepting: Bool) -> ListenerMachine.Event {
        // The file that has got the number of a closed descriptor may never wake this thread.
        if accepting, !socket.isListening { return .broken }
        let wait = ListenerWait(
            wake: wake, listeners: accepting ? [socket.descriptor, socket.spare] : [],
            probe: accepting ? probe?.descriptor : nil)
        return switch wait.outcome(within: milliseconds, elapsed: owner.clock.elapsed) {
        case .woken: wish()
        case .client: accept()
        case .probeEnded: .broken
        case .timedOut: .timedOut
        case .resumed: .resumed
        case .interrupted: .noneAccepted
        case .failed: .crowded
        }
    }

    private func wish() -> ListenerMachine.Event {
        var bytes = [UInt8](repeating: 0, count: 64)
        while read(wake, &bytes, bytes.count) > 0 {}
        let wish = owner.wish
        if wish.isEnding { return .endWanted }
        check = wish.checks
        return .checkWanted
    }

    private func accept() -> ListenerMachine.Event {
        switch socket.accept() {
        case .connection(let client, let peer, let port):
            if port == probe?.port {
                endProbe()
                close(client)
            } else {
                onConnection(client, peer, owner)
            }
            return .accepted
        case .none: return .noneAccepted
        case .crowded: return .crowded
        case .broken: return .broken
        }
    }
}
