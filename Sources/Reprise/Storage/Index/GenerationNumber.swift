import Foundation
import Primitives

/// Numbers for new generations, ascending, so that their rows are adjacent in the index.
///
/// A random number would touch a separate page in two trees for each generation.
enum GenerationNumber {
    private static let randomBits = 10
    private static let last = Mutex<Int64>(0)

    /// Microseconds since 1970, then ten random bits; greater than every earlier number of this process, even if the
    /// clock goes back.
    static func make() -> Int64 {
        let time = Int64(Date.now.timeIntervalSince1970 * 1_000_000)
        let number = time << randomBits | Int64.random(in: 0..<1 << randomBits)
        return last.withLock { last in
            last = max(last + 1, number)
            return last
        }
    }
}
