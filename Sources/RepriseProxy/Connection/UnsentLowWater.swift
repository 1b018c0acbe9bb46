import NIOCore

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
