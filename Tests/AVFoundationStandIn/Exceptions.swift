import Primitives

/// Records violations that would be Objective-C exceptions on Apple's systems, and other broken rules of AVFoundation's
/// documentation.
///
/// There an exception ends the process; here it is recorded, so that a test fails with all of them.
package enum Exceptions {
    private static let messages = Mutex<[String]>([])

    /// Records a broken rule.
    package static func raise(_ message: String) { messages.withLock { $0.append(message) } }

    /// Returns the violations recorded since the last call.
    package static func take() -> [String] {
        messages.withLock { messages in
            defer { messages = [] }
            return messages
        }
    }
}
