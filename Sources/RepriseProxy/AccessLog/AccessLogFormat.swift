/// The form of the lines of an access log.
package enum AccessLogFormat: String, Sendable, CaseIterable {
    /// A JSON object with everything.
    case json
    /// The combined log format of Apache and nginx, which programs that evaluate logs read.
    case combined
}
