/// What this program was made from.
package enum Build {
    /// The version of Reprise.
    package static let version = "0.1.0"

    /// The version of Swift that compiled it.
    package static var compiler: String {
        #if compiler(>=6.4)
            "6.4 or later"
        #else
            "6.3"
        #endif
    }
}
