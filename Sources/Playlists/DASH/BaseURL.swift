/// A base of the links below it: `BaseURL` (ISO/IEC 23009-1 §5.6).
package struct BaseURL: Hashable, Sendable {
    /// Index in ``MPD/links``; `nil` if the element is empty, which changes nothing.
    package let link: Int?
    /// `@serviceLocation`.
    package let serviceLocation: String?
}
