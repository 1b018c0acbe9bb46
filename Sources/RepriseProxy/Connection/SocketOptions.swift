import NIOCore
import NIOPosix

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Socket options of client connections.
enum SocketOptions {
    /// Seconds of silence after which the kernel probes the client, seconds between probes, and their number.
    private static let keepAlive = (idle: 60, interval: 15, count: 4)

    /// Allocates the buffer that each connection keeps for its next read; sizes in bytes.
    ///
    /// Requests are short, and NIO's own maximum of 64 KiB would take 640 MB for 10,000 clients.
    static let receiveAllocator = AdaptiveRecvByteBufferAllocator(minimum: 1024, initial: 2048, maximum: 8192)

    /// Sets the options of a client's connection; must be called on its loop.
    static func apply(to channel: any Channel) throws {
        guard let options = channel.syncOptions else { return }
        try options.setOption(.allowRemoteHalfClosure, value: true)
        try options.setOption(.maxMessagesPerRead, value: 1)
        try options.setOption(.recvAllocator, value: receiveAllocator)
        // Not writable while any byte waits for the client.
        try options.setOption(.writeBufferWaterMark, value: .init(low: 1, high: 1))
        try detectVanishedClients(options)
    }

    /// Detects clients that vanished while nothing is being sent.
    ///
    /// While something is being sent `ConnectionDeadline` does that, not `TCP_USER_TIMEOUT`: Linux treats a client that
    /// reads slowly, with a small window all the time, like one that reads nothing.
    private static func detectVanishedClients(_ options: any NIOSynchronousChannelOptions) throws {
        try options.setOption(.socketOption(.so_keepalive), value: 1)
        #if os(Linux)
            let idle = TCP_KEEPIDLE
        #else
            let idle = TCP_KEEPALIVE
        #endif
        let numbers: [(Int32, Int)] = [
            (idle, keepAlive.idle), (TCP_KEEPINTVL, keepAlive.interval), (TCP_KEEPCNT, keepAlive.count),
        ]
        for (name, value) in numbers {
            let option = ChannelOptions.Types.SocketOption(level: .tcp, name: NIOBSDSocket.Option(rawValue: name))
            try options.setOption(option, value: SocketOptionValue(value))
        }
    }

    /// Number of bytes that the kernel has accepted but the client has not acknowledged; 0 if unknown.
    ///
    /// Must be called on the channel's loop.
    static func unacknowledged(_ context: ChannelHandlerContext) -> Int {
        let pending = try? context.channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(
            of: NIOBSDSocket.Handle.self, unacknowledged)
        return pending ?? 0
    }

    private static func unacknowledged(_ socket: NIOBSDSocket.Handle) -> Int {
        var count: CInt = 0
        #if os(Linux)
            let result = ioctl(socket, UInt(TIOCOUTQ), &count)
        #else
            var size = socklen_t(MemoryLayout<CInt>.size)
            let result = getsockopt(socket, SOL_SOCKET, SO_NWRITE, &count, &size)
        #endif
        return result == 0 ? Int(count) : 0
    }
}

/// How many unsent bytes the kernel accepts for one connection (`TCP_NOTSENT_LOWAT`).
///
/// By default the kernel accepts megabytes ahead of a slow client, so that a client that leaves has cost the origin as
/// much. The limit is low while a response is being fetched; stored responses use the system's default.
enum UnsentLowWater {
    /// For a response that is being fetched: 16 KiB.
    static let live = 16 << 10
    /// The system's default: no limit.
    static let none = Int(Int32.max)

    #if canImport(Darwin)
        private static let option = NIOBSDSocket.Option(rawValue: 0x201)
    #else
        private static let option = NIOBSDSocket.Option(rawValue: 25)
    #endif

    /// Sets the limit; has no effect on a system without the option.
    static func set(_ bytes: Int, on channel: any Channel) {
        channel.setOption(ChannelOptions.Types.SocketOption(level: .tcp, name: option), value: SocketOptionValue(bytes))
            .whenComplete { _ in }
    }
}
