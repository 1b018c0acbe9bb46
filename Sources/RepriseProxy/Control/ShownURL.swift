/// URLs in what is told of a server.
enum ShownURL {
    /// Most characters of one.
    static let longest = 512

    /// `url`, which has no query, or its beginning and an ellipsis if it is longer than that.
    static func text(_ url: String) -> String { url.count > longest ? url.prefix(longest - 1) + "…" : url }
}
