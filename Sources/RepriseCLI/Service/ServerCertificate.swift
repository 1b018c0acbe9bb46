import Foundation
import NIOCore
import NIOSSL
import Primitives
import Reprise
import RepriseHTTPClient

/// The certificate of a server and its key, with which it encrypts its connections (TLS 1.2 at least).
final class ServerCertificate: Sendable {
    private let certificate, key: String
    /// What counts for connections that begin now.
    private let current: Mutex<Identity>

    private struct Identity {
        let context: NIOSSLContext
        let names: CertificateNames
    }

    /// Reads the files, both PEM: the certificate with those between it and a root, and its private key.
    ///
    /// Throws a reason with code 64, which shows nothing of the key.
    init(certificate: String, key: String) throws {
        (self.certificate, self.key) = (certificate, key)
        current = Mutex(try Self.read(certificate, key: key))
    }

    /// Reads the files again; if they cannot be used, what was read before stays.
    func readAgain() throws {
        let new = try Self.read(certificate, key: key)
        current.withLock { $0 = new }
    }

    /// The host under which players on this machine reach the server at `address`.
    func host(for address: String) -> String { current.withLock { $0.names }.host(for: address) }

    /// Encrypts a new connection; must be called on its loop.
    func encrypt(_ channel: any Channel) throws {
        try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: current.withLock { $0.context }))
    }

    private static func read(_ certificate: String, key: String) throws -> Identity {
        let chain = try chain(in: certificate)
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(try privateKey(in: key)))
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["http/1.1"]
        do {
            return Identity(
                context: try NIOSSLContext(configuration: configuration), names: CertificateNames(of: chain[0]))
        } catch {
            throw ConfigurationFile.reason(
                "tls-key: \(key.printable) is not the key of the first certificate in \(certificate.printable).")
        }
    }

    /// The names in the server's certificate at `path`.
    ///
    /// Throws a reason with code 64 if the file cannot be used.
    static func names(in path: String) throws -> CertificateNames { CertificateNames(of: try chain(in: path)[0]) }

    private static func chain(in path: String) throws -> [NIOSSLCertificate] {
        let bytes: [UInt8]
        do throws(RepriseError) {
            bytes = try SmallFile.read(path, named: path.printable, limit: largest, content: "certificates in PEM")
        } catch { throw ConfigurationFile.reason("tls-certificate: \(error.message)") }
        guard let chain = try? NIOSSLCertificate.fromPEMBytes(bytes), !chain.isEmpty else {
            throw ConfigurationFile.reason("tls-certificate: \(path.printable) has no certificate in PEM.")
        }
        return chain
    }

    private static func privateKey(in path: String) throws -> NIOSSLPrivateKey {
        let bytes = try PrivateFile.read(path, for: "tls-key", content: "a private key in PEM")
        guard !String(decoding: bytes, as: UTF8.self).contains("ENCRYPTED") else {
            throw ConfigurationFile.reason(
                "tls-key: \(path.printable) is encrypted, and a server asks for no password. Decrypt it: openssl pkey -in FILE -out FILE"
            )
        }
        guard let key = try? NIOSSLPrivateKey(bytes: bytes, format: .pem) else {
            throw ConfigurationFile.reason("tls-key: \(path.printable) has no private key in PEM.")
        }
        return key
    }

    /// Most bytes of a certificate with those above it.
    private static let largest = 1 << 20
}
