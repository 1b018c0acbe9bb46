import Foundation
import HTTPSemantics
import NIOSSL
import Reprise

/// Why the certificate of an origin was refused.
enum CertificateFault {
    /// The certificate does not cover the requested host; it names these hosts and addresses.
    case name([String])
    /// The certificate expired at this time.
    case ended(HTTPDate)
    /// The certificate is not valid before this time.
    case notBegun(HTTPDate)
    /// The certificate chain does not end at a trusted root.
    case root

    /// Determines why `certificate` was refused; `nil` if TLS failed for a reason other than the certificate.
    init?(_ certificate: NIOSSLCertificate?, error: (any Error)?, now: Date = Date()) {
        guard let certificate else { return nil }
        // ``Connector`` compares names itself and passes no error if they differ.
        guard let error, error as? NIOSSLExtraError != .failedToValidateHostname else {
            self = .name(CertificateNames(of: certificate).all)
            return
        }
        guard "\(error)".contains("CERTIFICATE_VERIFY_FAILED") else { return nil }
        let time = time_t(now.timeIntervalSince1970)
        if certificate.notValidAfter < time {
            self = .ended(HTTPDate(secondsSince1970: Int64(certificate.notValidAfter)))
        } else if certificate.notValidBefore > time {
            self = .notBegun(HTTPDate(secondsSince1970: Int64(certificate.notValidBefore)))
        } else {
            self = .root
        }
    }

    /// The error to report for the origin at `endpoint`.
    func error(at endpoint: Endpoint, cause: (any Error)?) -> RepriseError {
        let name = endpoint.name
        let message =
            switch self {
            case .name(let names):
                "The certificate of \(name) is for other names"
                    + (names.isEmpty ? "." : ": \(names.prefix(8).joined(separator: ", ")).")
                    + " Ask for one of its names, or have it renewed."
            case .ended(let date):
                "The certificate of \(name) ended at \(date). Have it renewed, or check the clock of this machine."
            case .notBegun(let date):
                "The certificate of \(name) begins at \(date). Check the clock of this machine."
            case .root:
                "The certificate of \(name) is not signed by a trusted root. Name a file with its root: trust-roots, or SSL_CERT_FILE."
            }
        return RepriseError(.originNotTrusted, message, cause: cause)
    }
}
