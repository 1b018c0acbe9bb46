import Dispatch
import Foundation

/// Threads with blocking calls that can be waited for together.
final class Threads: Sendable {
    private let group = DispatchGroup()

    /// Runs `body` on its own thread.
    func start(_ body: @escaping @Sendable () -> Void) {
        group.enter()
        let thread = Thread { [group] in
            body()
            group.leave()
        }
        thread.stackSize = 512 << 10
        thread.start()
    }

    /// Waits until all have ended, at most this many seconds.
    func wait(_ seconds: Double) { _ = group.wait(timeout: .now() + seconds) }
}

/// Prints a line at once, even into a file.
func say(_ line: String) {
    print(line)
    fflush(nil)
}

/// Why a soak cannot go on.
struct SoakError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
