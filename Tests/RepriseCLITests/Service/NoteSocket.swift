import Foundation
import TestLimits
import TestSupport

#if canImport(Glibc)
    import Glibc
#endif

/// The socket to which a service manager's programs send notes.
final class NoteSocket: Sendable {
    private let descriptor: Int32

    /// Binds `address`: a path, or a name that begins with a zero byte.
    init(_ address: [UInt8]) throws {
        descriptor = try UnixAddress.bind(address, takesDatagrams: true)
    }

    deinit { close(descriptor) }

    /// The lines of the next note.
    func next() async -> [String] {
        var bytes = [UInt8](repeating: 0, count: 4096)
        var count = -1
        await eventually {
            count = recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
            return count >= 0
        }
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// The lines of the next note that is none of the watchdog's.
    func nextNews() async -> [String] {
        while !Task.isCancelled {
            let lines = await next()
            if lines != ["WATCHDOG=1"] { return lines }
        }
        return []
    }
}
