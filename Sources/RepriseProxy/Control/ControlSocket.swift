import Logging
import NIOCore
import NIOPosix
import Reprise

/// The listening control socket of a server.
struct ControlSocket: Sendable {
    private let channel: any Channel
    private let file: SocketFile
    /// The directory that has a link to it.
    private let directory: String?

    /// The path that clients connect to.
    var path: String { file.path }

    /// Listens at the first of the configured places that can be used; `nil` if there is none, with a warning that says
    /// why.
    static func open(for service: ProxyService, on group: MultiThreadedEventLoopGroup) async -> ControlSocket? {
        let places = service.configuration.controlPlaces
        var reasons: [String] = []
        for place in places {
            do { return try await open(at: place, for: service, on: group) } catch { reasons.append("\(error)") }
        }
        if !places.isEmpty {
            service.log(.warning, "no control socket", ["reason": "\(reasons.joined(separator: " "))"])
        }
        return nil
    }

    private static func open(
        at place: ControlPlace, for service: ProxyService, on group: MultiThreadedEventLoopGroup
    ) async throws -> ControlSocket {
        var file = try SocketFile(at: place)
        let directory = service.cache.isStoring ? service.cache.directory : nil
        let channel: any Channel
        do { channel = try await bootstrap(service, on: group).bind(unixDomainSocketPath: file.path).get() } catch {
            file.remove(directory: nil)
            throw SocketFile.Objection(description: "\(place.path) cannot be bound: \(error).")
        }
        do throws(SocketFile.Objection) { try file.noteBound() } catch {
            try? await channel.close().get()
            file.remove(directory: nil)
            throw error
        }
        if let directory { file.link(in: directory) }
        return ControlSocket(channel: channel, file: file, directory: directory)
    }

    private static func bootstrap(_ service: ProxyService, on group: MultiThreadedEventLoopGroup) -> ServerBootstrap {
        ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 64)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelOption(.maxMessagesPerRead, value: 1)
            .childChannelOption(.recvAllocator, value: SocketOptions.receiveAllocator)
            .childChannelOption(.writeBufferWaterMark, value: .init(low: 1, high: 1))
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    guard isFromOwner(channel), service.addControl(channel) else { return channel.close(promise: nil) }
                    try channel.pipeline.syncOperations.addHandler(
                        ConnectionHandler(
                            service: service, watch: service.watch(on: channel.eventLoop), entrance: .socket))
                }
            }
    }

    /// Whether the peer is this user, or root; asked again although the file's mode says so, too.
    private static func isFromOwner(_ channel: any Channel) -> Bool {
        let user = try? channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(
            of: NIOBSDSocket.Handle.self, UnixSocket.peer)
        return (user ?? nil).map(UnixSocket.mayControl) ?? false
    }

    /// Stops listening and removes the file.
    func close() async {
        try? await channel.close().get()
        file.remove(directory: directory)
    }
}
