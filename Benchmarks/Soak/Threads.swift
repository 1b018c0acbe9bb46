import Dispatch
import Foundation

/// Threads with blocking calls, which can be waited for together.
final class Threads: Sendable {
    private let group = DispatchGroup()

    /// Runs `body` on a thread of its own.
    func start(_ body: @escaping @Sendable () -> Void) {
        group.enter()
        let thread = Thread { [group] in
            body()
            group.leave()
        }
        thread.stackSize = 512 << 10
        thread.start()
    }

    /// Waits until all have ended, at most so many seconds.
    func wait(_ seconds: Double) { _ = group.wait(timeout: .now() + seconds) }
}

/// Prints a line at once, also into a file.
func say(_ line: String) {
    print(line)
    fflush(nil)
}

/// Why a soak cannot go on.
struct SoakError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
