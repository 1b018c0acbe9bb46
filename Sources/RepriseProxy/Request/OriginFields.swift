import HTTPSemantics
import HTTPTypes

extension ClientHead {
    /// Fields of the client's request that go to the origin: end-to-end ones, without those that are the cache's business
    /// and those that pass for another address, client or method.
    ///
    /// A browser's cookies stay here: its jar holds those of all origins, and of other servers on this machine, as one
    /// site's.
    var originFields: HTTPFields {
        var fields = self.fields.endToEnd.filter { !$0.name.speaksForAnotherHop }
        for name in Self.notForwarded { fields[name] = nil }
        if audience != .player { fields[.cookie] = nil }
        if case .other = method {
            // Nothing is cached here: the conditions are the origin's business.
            for name in Self.conditions { fields[values: name] = self.fields[values: name] }
        }
        if let name = HTTPField.Name("Via") { fields.append(HTTPField(name: name, value: RepresentationFields.via)) }
        return fields
    }

    private static let conditions = [
        "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since", "Referer",
    ]
    .compactMap { HTTPField.Name($0) }

    /// `Icy-MetaData` would have metadata interleaved into the bytes; conditions are evaluated here.
    private static let notForwarded = [
        "Host", "Range", "If-Range", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since",
        "Accept-Encoding", "Icy-MetaData", "Content-Length", "Expect", "Origin", "Referer",
    ].compactMap { HTTPField.Name($0) }
}
