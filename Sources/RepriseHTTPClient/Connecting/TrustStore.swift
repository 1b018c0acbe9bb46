import Primitives
import NIOSSL
import Reprise

/// The trusted certificates; loaded for the first https request, because that takes some milliseconds.
final class TrustStore: Sendable {
    private let additionalRoots: [String]
    private let loaded = Mutex<NIOSSLContext?>(nil)

    init(additionalRoots: [String]) {
        self.additionalRoots = additionalRoots
    }

    func context(for endpoint: Endpoint) throws(RepriseError) -> NIOSSLContext {
        do {
            return try loaded.withLock { loaded in
                if let loaded { return loaded }
                let context = try load()
                loaded = context
                return context
            }
        } catch {
            throw RepriseError(
                .originNotTrusted,
                "\(endpoint.name) cannot be verified: the trusted roots cannot be loaded. Check additionalTrustRoots and the system's certificates.",
                cause: error)
        }
    }

    private func load() throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.certificateVerification = .fullVerification
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["http/1.1"]
        configuration.additionalTrustRoots = try additionalRoots.map { text in
            .certificates(try NIOSSLCertificate.fromPEMBytes(Array(text.utf8)))
        }
        return try NIOSSLContext(configuration: configuration)
    }
}
