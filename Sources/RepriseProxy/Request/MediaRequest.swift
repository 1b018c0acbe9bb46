package import HTTPSemantics
import Reprise

/// A GET or HEAD for a file, with its ranges, conditions and cache directives parsed once.
package final class MediaRequest: Sendable {
    let head: ClientHead
    /// The ranges, in the requested order; empty if the whole is requested, or if the field is invalid.
    package let ranges: [RangeSpec]
    /// Whether the response depends on validators (RFC 9110 §13.1).
    let isConditional: Bool
    /// The request's cache directives; `nil` if it has none (RFC 9111 §5.2.1).
    let statedDirectives: CacheControl?

    package init(_ head: consuming ClientHead) {
        isConditional =
            head.count("if-range") + head.count("if-match") + head.count("if-none-match")
            + head.count("if-modified-since") + head.count("if-unmodified-since") > 0
        statedDirectives = head.hasNoDirectives ? nil : head.directives
        if head.method == .get, let value = head.value("range"), let field = RangeField(value) {
            ranges = field.specs
        } else {
            ranges = []
        }
        self.head = head
    }

    var directives: CacheControl { statedDirectives ?? CacheControl() }
    var isHead: Bool { head.method == .head }
}
