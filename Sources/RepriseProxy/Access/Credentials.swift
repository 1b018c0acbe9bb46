import Foundation
import Primitives

/// What a client shows in `Authorization` (RFC 9110 §11.6.2); neither is checked.
enum Credentials: Equatable {
    /// A token (RFC 6750 §2.1).
    case bearer(String)
    /// A user and a password (RFC 7617 §2).
    case basic(user: String, password: String)

    /// Parses the value of the field; `nil` for other schemes, for what is malformed, and for several fields.
    init?(_ value: String) {
        let words = value.split(separator: " ", maxSplits: 1)
        guard words.count == 2 else { return nil }
        let rest = words[1].drop { $0 == " " }
        switch words[0].lowercased() {
        case "bearer": self = .bearer(String(rest))
        case "basic":
            guard let bytes = Data(base64Encoded: String(rest)), let text = String(utf8: bytes),
                let colon = text.firstIndex(of: ":")
            else { return nil }
            self = .basic(user: String(text[..<colon]), password: String(text[text.index(after: colon)...]))
        default: return nil
        }
    }
}
