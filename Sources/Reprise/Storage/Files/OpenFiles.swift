import Primitives

/// The open data files; those that are not being read are closed, least recently used first, and reopened when needed.
///
/// Lock order: its own, then a data file's, never the reverse; both are leaves for everything else.
final class OpenFiles: Sendable {
    private struct Entry {
        weak var file: DataFile?
    }

    private struct State {
        /// In the order of opening; files used since get a second chance.
        var queue: [Entry] = []
        var head = 0
        var count = 0

        mutating func pop() -> Entry? {
            guard head < queue.count else { return nil }
            defer { head += 1 }
            return queue[head]
        }

        mutating func push(_ file: DataFile) {
            if queue.count > 2 * count + 64 {
                queue = queue[head...].filter { $0.file != nil }
                head = 0
            }
            queue.append(Entry(file: file))
        }
    }

    private let limit: Int
    private let state = Mutex(State())

    init(limit: Int) { self.limit = max(1, limit) }

    /// Number of descriptors that data files hold open.
    var count: Int { state.withLock { $0.count } }

    /// Notes that `file` was opened; others may have to be closed.
    func noteOpened(_ file: DataFile) {
        state.withLock { state in
            state.count += 1
            state.push(file)
        }
        close(downTo: limit)
    }

    /// Notes that a file was closed, but not by this table.
    func noteClosed() { state.withLock { $0.count -= 1 } }

    /// Closes half of the files that are not being read, because the process has run out of descriptors.
    func closeHalf() { close(downTo: state.withLock { $0.count / 2 }) }

    private func close(downTo limit: Int) {
        // Each gets at most one second chance.
        var looks = state.withLock { 2 * ($0.queue.count - $0.head) }
        while looks > 0, let entry = state.withLock({ $0.count > limit ? $0.pop() : nil }) {
            looks -= 1
            guard let file = entry.file else { continue }
            switch file.closeUnlessUsed() {
            case .closed: noteClosed()
            case .used: state.withLock { $0.push(file) }
            case .held: break
            }
        }
    }

    /// A quarter of the descriptors available to this process, between 16 and 512.
    static var defaultLimit: Int {
        guard let limit = Descriptors.limit else { return 64 }
        return min(max(limit / 4, 16), 512)
    }
}
