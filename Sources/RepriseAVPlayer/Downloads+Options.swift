public import Foundation
public import Reprise

extension Downloads {
    /// Downloads the file or stream at `url` so that `.cached(url, options: options)` plays it; see
    /// ``Reprise/Downloads/add(_:name:selection:)-(MediaResource,_,_)``.
    ///
    /// Uses the headers, the partition, the key and the network policy of `options`. The headers are not recorded:
    /// after a restart, the download goes on without them. Also throws `invalidURL` for a URL that is neither http nor
    /// https, and `invalidArgument` for options with a field that cannot be sent.
    public func add(
        _ url: URL, options: PlaybackOptions, name: String? = nil, selection: StreamSelection? = nil
    ) async throws {
        let source = AssetSource(try cache(), url: try ResourceURL(url), options: options)
        try await add(source.resource(), name: name, selection: selection)
    }
}
