import Primitives
import NIOSSL
import Reprise

/// The trusted certificates; loaded for the first https request, because that takes some milliseconds.
final class TrustStore: Sendable {
    private let additionalRoots: [String]
    /// By whether NIOSSL compares names.
    private let loaded = Mutex<[Bool: NIOSSLContext]>([:])

    init(additionalRoots: [String]) {
        self.additionalRoots = additionalRoots
    }

    /// The certificates for a connection to `endpoint`; with `comparesName` only those that name it are taken, or the
    /// address of the other end if that is an address.
    func context(for endpoint: Endpoint, comparesName: Bool = true) throws(RepriseError) -> NIOSSLContext {
        do {
            return try loaded.withLock { loaded in
                if let context = loaded[comparesName] { return context }
                let context = try load(comparesName: comparesName)
                loaded[comparesName] = context
                return context
            }
        } catch {
            throw RepriseError(
                .originNotTrusted,
                "\(endpoint.name) cannot be verified: the trusted roots cannot be loaded. Check additionalTrustRoots and the system's certificates.",
                cause: error)
        }
    }

    private func load(comparesName: Bool) throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.certificateVerification = comparesName ? .fullVerification : .noHostnameVerification
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["http/1.1"]
        configuration.additionalTrustRoots = try additionalRoots.map { text in
            .certificates(try NIOSSLCertificate.fromPEMBytes(Array(text.utf8)))
        }
        return try NIOSSLContext(configuration: configuration)
    }
}
