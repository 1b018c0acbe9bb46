import HTTPTypes
package import Reprise

/// Decides which bodies are replaced by a text that is made from them, such as a playlist whose links have to lead back
/// to the proxy.
///
/// Stored bytes stay those of the origin; the text is made for each request.
package protocol BodyFilter: Sendable {
    /// The editor of a response from `url` with this metadata; `nil` if its body is sent as the origin sent it.
    ///
    /// Must be quick and must not block: hits ask on the event loop, on each connection until there is no editor.
    func editor(of information: ContentInformation, at url: ResourceURL) -> (any BodyEditor)?

    /// Called before a coded body is sent as it came, because no editor could read it.
    func noteCoded(_ information: ContentInformation, at url: ResourceURL)
}

extension BodyFilter {
    package func noteCoded(_ information: ContentInformation, at url: ResourceURL) {}

    /// The editor of a response; `nil` also for a coded body, which no editor could read.
    func editorOfText(_ information: ContentInformation, at url: ResourceURL) -> (any BodyEditor)? {
        information.contentCoding == nil ? editor(of: information, at: url) : nil
    }
}

/// The filter that sends every body as the origin sent it.
package struct PassThrough: BodyFilter {
    package init() {}

    package func editor(of information: ContentInformation, at url: ResourceURL) -> (any BodyEditor)? { nil }
}
