import Foundation
import HTTPTypes
import Reprise

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Converts errors for AVFoundation: an error in `NSURLErrorDomain`, with the cause as underlying error.
///
/// AVFoundation wraps such errors in its own; others, and codes of 0, do not reach the app. The user information is
/// likely to be lost on the way through its server process: ``MediaCache/loadingError(of:)-(AVAsset)`` has the cause.
enum LoadingError {
    /// Converts `error`, which is a ``RepriseError``, a `CancellationError`, or a foreign error.
    static func make(_ error: any Error) -> NSError {
        guard let error = error as? RepriseError else {
            let code: URLError.Code = error is CancellationError ? .cancelled : (error as? URLError)?.code ?? .unknown
            return NSError(domain: NSURLErrorDomain, code: code.rawValue, userInfo: [NSUnderlyingErrorKey: error])
        }
        return NSError(
            domain: NSURLErrorDomain, code: code(of: error).rawValue,
            userInfo: [NSUnderlyingErrorKey: error, NSLocalizedDescriptionKey: error.message])
    }

    /// The system's own code if the client provided one, otherwise the closest one.
    static func code(of error: RepriseError) -> URLError.Code {
        if let cause = error.cause as? URLError, cause.code.rawValue < 0, cause.code != .unknown { return cause.code }
        return switch error.code {
        case .invalidURL, .invalidArgument: .badURL
        case .networkUnavailable: .notConnectedToInternet
        case .originNotFound: .cannotFindHost
        case .originUnreachable: .cannotConnectToHost
        case .originNotTrusted: .serverCertificateUntrusted
        case .originTimedOut: .timedOut
        case .originBodyTruncated: .networkConnectionLost
        case .originRedirectRefused: .httpTooManyRedirects
        case .originForbidden: .noPermissionsToReadFile
        case .originRefused: wantsCredentials(error) ? .userAuthenticationRequired : .badServerResponse
        case .validatorChanged, .rangeNotSatisfiable: .resourceUnavailable
        case .storageUnavailable, .storageFull, .storageLocked, .notStored, .keyUnavailable: .cannotOpenFile
        case .closed: .cancelled
        default: .badServerResponse
        }
    }

    private static func wantsCredentials(_ error: RepriseError) -> Bool {
        [401, 407].contains(error.refusal?.head.status.code)
    }
}
