import Foundation
import NIOSSL
import TestSupport

/// A certificate authority of our own and a server certificate for `localhost`, `media.test` and 127.0.0.1, made by
/// `openssl`.
struct TestCertificates {
    /// The authority's certificate, PEM.
    let root: String
    /// For a server that presents the certificate.
    let serverContext: NIOSSLContext

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
        let extensions = "subjectAltName=DNS:localhost,DNS:media.test,IP:127.0.0.1\nbasicConstraints=CA:FALSE\n"
        try extensions.write(to: folder.appendingPathComponent("ext"), atomically: true, encoding: .utf8)
        let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        try openssl(
            ["req", "-x509", "-days", "2", "-subj", "/CN=Reprise test", "-keyout", "ca.key", "-out", "ca.pem"] + key,
            folder)
        try openssl(["req", "-subj", "/CN=localhost", "-keyout", "key.pem", "-out", "request"] + key, folder)
        try openssl(
            ["x509", "-req", "-in", "request", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2"]
                + ["-extfile", "ext", "-out", "cert.pem"], folder)
        let certificate = try NIOSSLCertificate.fromPEMFile(folder.appendingPathComponent("cert.pem").path)
        let privateKey = try NIOSSLPrivateKey(file: folder.appendingPathComponent("key.pem").path, format: .pem)
        let configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: certificate.map { .certificate($0) }, privateKey: .privateKey(privateKey))
        return TestCertificates(
            root: try String(contentsOf: folder.appendingPathComponent("ca.pem"), encoding: .utf8),
            serverContext: try NIOSSLContext(configuration: configuration))
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
