import Foundation
import Reprise

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Converts the system's errors for the engine.
///
/// Messages and causes name host and port, never a query. The system's own errors contain the whole URL, so only their
/// code is kept.
enum Failures {
    /// A request that has no response yet.
    static func head(_ error: any Error, from url: ResourceURL) -> RepriseError {
        guard let error = error as? URLError else { return unreachable(url, cause: nil) }
        let cause = URLError(error.code)
        return switch error.code {
        case .notConnectedToInternet, .dataNotAllowed, .internationalRoamingOff:
            RepriseError(
                .networkUnavailable, "There is no network that the request may use; \(url.authority) was not asked.",
                cause: cause)
        case .cannotFindHost, .dnsLookupFailed:
            .originNotFound(url.host, cause: cause)
        case .timedOut:
            RepriseError(
                .originTimedOut, "\(url.authority) did not answer in the system's time; try again later.", cause: cause)
        case _ where isTLS(error.code, for: url):
            .originNotTrusted(url.authority, cause: cause)
        case .appTransportSecurityRequiresSecureConnection:
            RepriseError(
                .originForbidden,
                "App Transport Security forbids plain http to \(url.authority); use https or declare an exception in Info.plist.",
                cause: cause)
        case .badURL, .unsupportedURL:
            RepriseError(.invalidURL, "The system cannot fetch \(url.redacted).", cause: cause)
        case _ where isMalformed(error.code): misbehaved(url, what: "is not valid HTTP", cause: cause)
        default: unreachable(url, cause: cause)
        }
    }

    /// A body in transfer: whatever ended it, the rest may be requested, unless its bytes were wrong.
    static func body(_ error: (any Error)?, from url: ResourceURL) -> RepriseError {
        let cause = (error as? URLError).map { URLError($0.code) }
        if let cause, isMalformed(cause.code) { return misbehaved(url, what: "is not valid HTTP", cause: cause) }
        return .originBodyTruncated(url.authority, cause: cause)
    }

    /// A second head for one request: the system restarted the transfer.
    static func restarted(_ url: ResourceURL) -> RepriseError {
        RepriseError(
            .originBodyTruncated,
            "The system asked \(url.authority) again from the beginning; try again.")
    }

    /// A transfer that was cut off, because its consumer was far behind and the system kept receiving, or waited for
    /// too long.
    static func cut(_ url: ResourceURL) -> RepriseError {
        RepriseError(
            .originBodyTruncated,
            "The body of \(url.authority) was read too slowly to keep its transfer; try again.")
    }

    static func timedOut(_ what: String, at url: ResourceURL, after time: Duration) -> RepriseError {
        .originTimedOut(url.authority, what: what, within: time)
    }

    static func misbehaved(_ url: ResourceURL, what: String, cause: URLError? = nil) -> RepriseError {
        RepriseError(
            .originMisbehaved, "The response of \(url.authority) \(what) and cannot be used.", cause: cause)
    }

    /// A transfer in the background that has ended without a response.
    static func transfer(_ error: any Error, from url: ResourceURL) -> RepriseError {
        meansNoRoom(error) ? keeping(error) : head(error, from: url)
    }

    /// What has come in the background and cannot be kept.
    static func keeping(_ error: any Error) -> RepriseError {
        let what = "What comes in the background cannot be kept on the disk"
        return meansNoRoom(error)
            ? RepriseError(.storageFull, "\(what): there is no room; free some.")
            : RepriseError(.storageUnavailable, "\(what): the folder in the caches folder cannot be written.")
    }

    /// Whether the disk has no room for what comes, as the system says it of files and of transfers to files.
    private static func meansNoRoom(_ error: any Error) -> Bool {
        if let code = (error as? URLError)?.code {
            return [.cannotCreateFile, .cannotOpenFile, .cannotWriteToFile, .cannotCloseFile, .cannotMoveFile]
                .contains(code)
        }
        if (error as? CocoaError)?.code == .fileWriteOutOfSpace { return true }
        let error = error as NSError
        if error.domain == NSPOSIXErrorDomain, [Int(ENOSPC), Int(EDQUOT)].contains(error.code) { return true }
        return (error.userInfo[NSUnderlyingErrorKey] as? any Error).map(meansNoRoom) ?? false
    }

    private static func unreachable(_ url: ResourceURL, cause: URLError?) -> RepriseError {
        .originUnreachable(url.authority, cause: cause)
    }

    private static func isTLS(_ code: URLError.Code, for url: ResourceURL) -> Bool {
        #if canImport(FoundationNetworking)
            // With FoundationNetworking libcurl's TLS errors have no code of their own.
            if code == .unknown && url.scheme == .https { return true }
        #endif
        return [
            .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateUntrusted,
            .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
            .clientCertificateRequired,
        ].contains(code)
    }

    private static func isMalformed(_ code: URLError.Code) -> Bool {
        [
            .badServerResponse, .cannotParseResponse, .cannotDecodeRawData, .cannotDecodeContentData,
            .zeroByteResource, .dataLengthExceedsMaximum,
        ].contains(code)
    }
}

extension Duration {
    /// The time in seconds, for Dispatch.
    var inSeconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}
