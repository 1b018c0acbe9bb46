import Foundation
import TestLimits
import Testing

@testable import RepriseProxy

/// A listening socket that loses its descriptors.
@Suite(.limit(minutes: 1)) struct ListeningSocketTests {
    /// Replaces a descriptor by another file: if it were closed, another test could get its number.
    private static func take(_ descriptor: CInt) {
        let other = open("/dev/null", O_RDONLY)
        _ = dup2(other, descriptor)
        _ = close(other)
    }

    @Test(arguments: [0, 1]) func aClientKeepsItsPlaceIfOneDescriptorIsLost(_ index: Int) throws {
        let socket = try ListeningSocket(at: .loopback, port: 0)
        let client = Foundation.socket(AF_INET, IPv4SocketAddress.stream, 0)
        defer { close(client) }
        let connected = IPv4SocketAddress(.loopback, port: socket.port).call(connect, client)
        try #require(connected == 0)
        #expect(socket.mended() == nil, "it has both")
        let lost = [socket.descriptor, socket.spare][index]
        Self.take(lost)
        defer { close(lost) }
        if case .broken = socket.accept() {} else { Issue.record("it was not noticed") }
        let mended = try #require(socket.mended())
        #expect(mended.port == socket.port && mended.isListening)
        if case .connection(let accepted, _, _) = mended.accept() {
            close(accepted)
        } else {
            Issue.record("the client was lost")
        }
        mended.closeIfOwn()
        #expect(fcntl(lost, F_GETFD) != -1, "another's file stays open")
    }

    @Test func oneWithoutDescriptorsIsNotMended() throws {
        let socket = try ListeningSocket(at: .loopback, port: 0)
        for descriptor in [socket.descriptor, socket.spare] { Self.take(descriptor) }
        #expect(socket.mended() == nil)
        for descriptor in [socket.descriptor, socket.spare] { close(descriptor) }
    }
}
