#if REPRISE_AVFOUNDATION_STAND_IN
    import Foundation
    import HTTPTypes
    import Reprise
    import RepriseHTTPClient

    /// The requests of one item, with the fields that AVPlayer sends.
    struct HLSExchange: Sendable {
        let client: NIOOrigin
        private let session = UUID().uuidString

        init(client: NIOOrigin) { self.client = client }

        /// What came of a request for `url`, and its body.
        ///
        /// Throws what no player meets, and `CancellationError`.
        func run(_ url: URL) async throws -> (HLSPlayerRules.Outcome, [UInt8]) {
            var fields = HTTPFields()
            fields[.userAgent] = "AppleCoreMedia/1.0.0.22A3354 (iPhone; U; CPU OS 18_0 like Mac OS X; en_us)"
            if let name = HTTPField.Name("X-Playback-Session-Id") { fields[name] = session }
            let request = OriginRequest(url: try ResourceURL(url.absoluteString), fields: fields)
            do {
                let response = try await client.send(request)
                var body: [UInt8] = []
                while let piece = try await response.body.next() { piece.withUnsafeBytes { body += $0 } }
                let seconds = response.head.headerFields[.retryAfter].flatMap { Int($0) }
                return (.complete(status: response.head.status.code, retryAfter: seconds), body)
            } catch let error as RepriseError {
                switch error.code {
                case .originUnreachable, .originBodyTruncated, .networkUnavailable: return (.broken, [])
                case .originTimedOut: return (.noHead, [])
                default: throw error
                }
            }
        }
    }
#endif
