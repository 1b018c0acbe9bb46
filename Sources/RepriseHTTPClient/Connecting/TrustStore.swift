import Foundation
import NIOSSL
import Primitives
import Reprise

/// A PEM file, or a directory of PEM files, with certificates to trust in addition to the system's.
package struct TrustedFile: Sendable, Hashable {
    private let path: String
    /// The setting or variable that names the path, for error messages.
    private let source: String

    package init(_ path: String, source: String) { (self.path, self.source) = (path, source) }

    /// The files and directories in `SSL_CERT_FILE` and `SSL_CERT_DIR`, read as curl reads them.
    package static func named(in environment: [String: String]) -> [TrustedFile] {
        let file = environment["SSL_CERT_FILE"].map { [TrustedFile($0, source: "SSL_CERT_FILE")] } ?? []
        let directories = (environment["SSL_CERT_DIR"] ?? "").split(separator: ":").map {
            TrustedFile(String($0), source: "SSL_CERT_DIR")
        }
        return (file + directories).filter { !$0.path.isEmpty }
    }

    /// Loads the certificates.
    ///
    /// Throws ``RepriseError`` with code `originNotTrusted` if the path is missing or unreadable.
    func certificates() throws(RepriseError) -> [NIOSSLCertificate] {
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else {
            throw unusable("does not exist")
        }
        do {
            guard isDirectory.boolValue else { return try NIOSSLCertificate.fromPEMFile(path) }
            // OpenSSL directories also contain symbolic links to the certificates, and unrelated files.
            let names = try FileManager.default.contentsOfDirectory(atPath: path)
            let files = Set(names.map { URL(fileURLWithPath: path + "/" + $0).resolvingSymlinksInPath().path })
            return files.sorted().flatMap { (try? NIOSSLCertificate.fromPEMFile($0)) ?? [] }
        } catch {
            throw unusable("cannot be read as certificates in PEM form")
        }
    }

    private func unusable(_ reason: String) -> RepriseError {
        RepriseError(.originNotTrusted, "\(path), which \(source) names, \(reason). Correct \(source).")
    }
}

/// The trusted certificates; loaded for the first https request, because that takes some milliseconds.
final class TrustStore: Sendable {
    private struct Key: Hashable {
        let files: [TrustedFile]
        /// Whether NIOSSL verifies the host name.
        let comparesName: Bool
    }

    private let additionalRoots: [String]
    private let files: @Sendable (_ host: String) -> [TrustedFile]
    private let loaded = Mutex<[Key: NIOSSLContext]>([:])

    init(_ configuration: NIOOrigin.Configuration) {
        additionalRoots = configuration.additionalTrustRoots
        files = { [all = configuration.trustedFiles, ofHost = configuration.trustedFilesOfHost] host in
            all + (ofHost?(host) ?? [])
        }
    }

    /// The certificates for a connection to `endpoint`; with `comparesName` only those that name it are taken, or the
    /// address of the other end if that is an address.
    func context(for endpoint: Endpoint, comparesName: Bool = true) throws(RepriseError) -> NIOSSLContext {
        let key = Key(files: files(endpoint.host), comparesName: comparesName)
        do {
            return try loaded.withLock { loaded in
                if let context = loaded[key] { return context }
                let context = try load(key)
                loaded[key] = context
                return context
            }
        } catch let error as RepriseError {
            throw error
        } catch {
            throw RepriseError(
                .originNotTrusted,
                "\(endpoint.name) cannot be verified: the trusted roots cannot be loaded. Check additionalTrustRoots and the system's certificates.",
                cause: error)
        }
    }

    private func load(_ key: Key) throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.certificateVerification = key.comparesName ? .fullVerification : .noHostnameVerification
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["http/1.1"]
        configuration.additionalTrustRoots =
            try additionalRoots.map { .certificates(try NIOSSLCertificate.fromPEMBytes(Array($0.utf8))) }
            + key.files.map { .certificates(try $0.certificates()) }
        return try NIOSSLContext(configuration: configuration)
    }
}
