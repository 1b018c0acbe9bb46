import Foundation
import NIOSSL
import TestSupport

/// A certificate authority of our own, a server certificate for `localhost`, `media.test` and 127.0.0.1, one for
/// 192.0.2.7, and one with a common name only, made by `openssl`.
struct TestCertificates {
    /// The authority's certificate, PEM.
    let root: String
    /// For a server that presents the certificate of this machine.
    let serverContext: NIOSSLContext
    /// For a server that presents the certificate of an address that no test reaches but through a proxy.
    let addressContext: NIOSSLContext
    /// For a server that presents a certificate with a common name only.
    let namelessContext: NIOSSLContext

    /// `nil`, after printing why, if there is no usable `openssl`.
    static let shared: TestCertificates? = {
        do {
            return try make()
        } catch {
            print("skipped: no test certificates could be made (\(error))")
            return nil
        }
    }()

    private static func make() throws -> TestCertificates {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("reprise-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        try openssl(
            ["req", "-x509", "-days", "2", "-subj", "/CN=Reprise test", "-keyout", "ca.key", "-out", "ca.pem"] + key,
            folder)
        func context(_ names: String?) throws -> NIOSSLContext {
            let names = names.map { "subjectAltName=\($0)\n" } ?? ""
            try "\(names)basicConstraints=CA:FALSE\n".write(
                to: folder.appendingPathComponent("ext"), atomically: true, encoding: .utf8)
            try openssl(["req", "-subj", "/CN=localhost", "-keyout", "key.pem", "-out", "request"] + key, folder)
            let issuer = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2"]
            try openssl(["x509", "-req", "-in", "request", "-extfile", "ext", "-out", "cert.pem"] + issuer, folder)
            let certificate = try NIOSSLCertificate.fromPEMFile(folder.appendingPathComponent("cert.pem").path)
            let privateKey = try NIOSSLPrivateKey(file: folder.appendingPathComponent("key.pem").path, format: .pem)
            return try NIOSSLContext(
                configuration: .makeServerConfiguration(
                    certificateChain: certificate.map { .certificate($0) }, privateKey: .privateKey(privateKey)))
        }
        return TestCertificates(
            root: try String(contentsOf: folder.appendingPathComponent("ca.pem"), encoding: .utf8),
            serverContext: try context("DNS:localhost,DNS:media.test,IP:127.0.0.1"),
            addressContext: try context("IP:192.0.2.7"), namelessContext: try context(nil))
    }

    private struct Failed: Error { let command: String }

    private static func openssl(_ arguments: [String], _ folder: URL) throws {
        // Apple's other systems start no programs.
        #if os(macOS) || os(Linux)
            let status = try Spawn.run("/bin/sh", ["-c", #"cd "$0" && exec openssl "$@""#, folder.path] + arguments)
            guard status == 0 else { throw Failed(command: "openssl \(arguments[0])") }
        #else
            throw Failed(command: "openssl \(arguments[0])")
        #endif
    }
}
