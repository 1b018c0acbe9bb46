import Foundation
import Primitives
import Reprise
import RepriseProxy

/// One request to a socket of this machine, and the lines of its answer.
///
/// HTTP/1.0: the answer ends with the connection. Blocking calls have a thread of their own.
final class SocketExchange: Sendable {
    /// An answer, as far as its end tells it.
    struct Answer: Sendable {
        let status: Int
        /// The last line of the body.
        let last: Data
    }

    private let descriptor: Int32
    private let clock: CacheClock
    /// Whether the answer was given up.
    private let isAbandoned = Mutex(false)

    /// How long the server may take to end its work once nothing more is wanted.
    static let grace = Duration.seconds(5)

    /// Longest line of an answer, in bytes.
    private static let longestLine = 64 << 20

    /// Connects; `nil` if nothing of this user's listens there.
    init?(to path: String, clock: CacheClock = .system) {
        guard let descriptor = UnixSocket.connect(to: path) else { return nil }
        guard let user = UnixSocket.peer(of: descriptor), user == geteuid() || user == 0 else {
            close(descriptor)
            return nil
        }
        (self.descriptor, self.clock) = (descriptor, clock)
    }

    deinit { close(descriptor) }

    /// Sends a request and calls `line` for each line of the answer; returns how it ends, or `nil` if it is cut.
    ///
    /// A task that is canceled closes its sending side, and reads on for at most ``grace``: the server ends its work
    /// and says how, unless it is stuck itself.
    func run(
        _ method: String, _ target: String, body: Data = Data(), patience: Duration? = nil,
        line: @escaping @Sendable (Data) -> Void
    ) async -> Answer? {
        if let patience {
            var time = timeval(tv_sec: Int(patience.components.seconds), tv_usec: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
            setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
        }
        let head = "\(method) \(target) HTTP/1.0\r\nContent-Type: application/json\r\n"
        let length = body.isEmpty ? "" : "Content-Length: \(body.count)\r\n"
        let request = Data((head + length + "\r\n").utf8) + body
        let answer = Promise<Answer?>()
        Thread.detachNewThread { [self] in answer.fulfill(send(request) ? receive(line) : nil) }
        let limit = Mutex<Task<Void, Never>?>(nil)
        defer { limit.withLock { $0 }?.cancel() }
        return await withTaskCancellationHandler {
            await answer.value
        } onCancel: {
            finishSending()
            limit.withLock { $0 = Task { [self] in await abandon(after: Self.grace) } }
        }
    }

    /// Whether a canceled task has waited in vain for the end of the answer.
    var wasAbandoned: Bool { isAbandoned.withLock { $0 } }

    private func abandon(after time: Duration) async {
        do { try await clock.sleep(time) } catch { return }
        isAbandoned.withLock { $0 = true }
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    /// Says that nothing more is wanted; what the server still says is read.
    func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    private func send(_ request: Data) -> Bool {
        var rest = request[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { UnixSocket.send($0, to: descriptor) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    private func receive(_ line: @Sendable (Data) -> Void) -> Answer? {
        var (status, isBody, last) = (nil as Int?, false, nil as Data?)
        let isWhole = eachLine { text in
            if isBody {
                last = text
                line(text)
            } else if status == nil {
                let words = String(decoding: text, as: UTF8.self).split(separator: " ")
                status = words.count > 1 ? Int(words[1]) : nil
                return status != nil
            } else if text.allSatisfy({ $0 == 0x0D }) {
                isBody = true
            }
            return true
        }
        guard isWhole, let status, let last else { return nil }
        return Answer(status: status, last: last)
    }

    /// Calls `body` for each line until it returns false; whether the answer ended with a line.
    private func eachLine(_ body: (Data) -> Bool) -> Bool {
        var unfinished = Data()
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return count == 0 && unfinished.isEmpty }
            for piece in buffer[..<count].split(separator: 0x0A, omittingEmptySubsequences: false).enumerated() {
                if piece.offset > 0 {
                    guard body(unfinished) else { return false }
                    unfinished = Data()
                }
                unfinished.append(contentsOf: piece.element)
            }
            guard unfinished.count <= Self.longestLine else { return false }
        }
    }
}
